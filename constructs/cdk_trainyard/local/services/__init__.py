"""APIs that moto lacks, and corrections of those that it has."""
