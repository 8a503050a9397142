/** A connection string that nothing answers: opening it fails. */
export const unreachableUrl = 'postgres://nobody@127.0.0.1:1/none'
