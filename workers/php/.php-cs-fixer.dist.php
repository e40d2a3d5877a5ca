<?php

declare(strict_types=1);

// What composer and the fixer leave behind goes to target/: this folder is embedded in the binary.
$files = (new PhpCsFixer\Finder())->in(__DIR__);

return (new PhpCsFixer\Config())
    ->setFinder($files)
    ->setCacheFile(__DIR__ . '/../../target/php/php-cs-fixer.cache')
    ->setRiskyAllowed(true)
    ->setRules(['@PER-CS2.0' => true, 'declare_strict_types' => true]);
