/** A connection string that nothing answers: whoever opens it fails. */
export const unreachableUrl = 'postgres://nobody@127.0.0.1:1/none'
