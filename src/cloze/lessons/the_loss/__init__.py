"""The loss: the formula that scores a guess."""
