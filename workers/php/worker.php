<?php

/**
 * The worker for PHP: see CONTRACT.md, one folder up. The first argument, where there is one, is
 * a folder of clients to use in the place of clients/.
 */

declare(strict_types=1);

namespace Roundtrip\Worker;

use ErrorException;

foreach (['About', 'Batch', 'Call', 'Client', 'Pipelines', 'Fills', 'Endpoint', 'Failure', 'Extension', 'Journal', 'Kind', 'Opened',
    'Operations', 'PhpRedis', 'Place', 'Shown', 'Script', 'Sql', 'Tally', 'Turn', 'Loop', 'Check', 'Settings', 'Worker'] as $name) {
    require __DIR__ . "/src/{$name}.php";
}

// Nothing but events may reach the standard output.
ini_set('display_errors', 'stderr');
// The host bounds the number of ops; PHP's own limit would only end the worker in the middle.
ini_set('memory_limit', '-1');
error_reporting(E_ALL & ~E_DEPRECATED);
set_error_handler(function (int $severity, string $message, string $file, int $line): bool {
    if ((error_reporting() & $severity) === 0) {
        return false;
    }
    throw new ErrorException($message, 0, $severity, $file, $line);
});

exit((new Worker($argv[1] ?? __DIR__ . '/clients'))->serve());
