"""Marks of a run or of ``beholder lint`` become proposed texts, which people accept or refuse."""
