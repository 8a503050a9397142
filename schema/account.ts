/** What accounts can hold: coins, diamonds and points in ones, dollars in cents. */
export const currencies = ['coins', 'diamonds', 'target', 'dollars', 'agent_dollars'] as const

/**
 * An account's name, `<kind>:<id>:<currency>`. Nothing else may stand on the ledger: with a blank or a semicolon in it
 * two movements could have the bytes of one under the hash.
 */
export const ACCOUNT_PATTERN = `^((user|room|game|withdrawal|settled):[1-9][0-9]{0,15}|(house|issuance):[a-z_-]{1,64}):(${currencies.join('|')})$`
