"""Parts that commands share: groups of options, printing, progress."""
