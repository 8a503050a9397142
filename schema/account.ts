/** What accounts can hold: coins, diamonds and points in ones, dollars in cents. */
export const currencies = ['coins', 'diamonds', 'target', 'dollars', 'agent_dollars'] as const

/**
 * An account's name, `<kind>:<id>:<currency>`. The ledger accepts no other form: the hashed text separates accounts by
 * blanks and semicolons, so that with one in a name two movements could hash like one.
 */
export const ACCOUNT_PATTERN = `^((user|room|game|withdrawal|settled):[1-9][0-9]{0,15}|(house|issuance):[a-z_-]{1,64}):(${currencies.join('|')})$`

/** What approvals are limited by: value by currency, privilege cards by their number, gifts in bags by their price. */
export const limitNames = [...currencies, 'cards', 'bag'] as const
