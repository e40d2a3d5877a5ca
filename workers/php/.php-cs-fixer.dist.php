<?php

declare(strict_types=1);

$files = (new PhpCsFixer\Finder())->in(__DIR__)->exclude('vendor');

return (new PhpCsFixer\Config())
    ->setFinder($files)
    ->setRiskyAllowed(true)
    ->setRules(['@PER-CS2.0' => true, 'declare_strict_types' => true]);
