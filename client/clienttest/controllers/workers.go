package controllers

// workers is how many keys each controller reconciles at a time.
const workers = 4
