"""Put to use: a pretrained encoder with other heads, learning from few labels."""
