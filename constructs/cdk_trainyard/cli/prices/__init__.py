"""``trainyard prices``: a copy of AWS's price list, which reviews read before the shipped snapshot."""
