<?php

/**
 * The worker for PHP: see CONTRACT.md, one folder up. The first argument, where there is one, is
 * a folder of clients to use in the place of clients/.
 */

declare(strict_types=1);

namespace Roundtrip\Worker;

use ErrorException;

// Whatever order they come in, each class finds those that it is made of. All of them are there
// before the clock starts; the class of the object vectors is in no namespace, and not wanted yet.
spl_autoload_register(static function (string $class): void {
    $own = __NAMESPACE__ . '\\';
    if (str_starts_with($class, $own)) {
        require_once __DIR__ . '/src/' . substr($class, strlen($own)) . '.php';
    }
});
foreach (glob(__DIR__ . '/src/*.php') as $file) {
    if (basename($file) !== 'RoundtripPoint.php') {
        require_once $file;
    }
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
