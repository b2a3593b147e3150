"""Speed and quality, measured side by side with what there was before."""
