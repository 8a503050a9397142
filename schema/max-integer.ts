/** The largest amount, price or balance that is stored and answered: 2^53-1. */
export const MAX_INTEGER = Number.MAX_SAFE_INTEGER
