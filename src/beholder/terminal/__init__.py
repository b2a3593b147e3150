"""What commands share: groups of options, printing, progress."""
