"""Money between two accounts: a saga that completes a transfer, or compensates it."""
