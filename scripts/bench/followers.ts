import { INDEX_FOLLOWER } from '../../src/live/channel-index.ts'
import { PUSH_FOLLOWER } from '../../src/start/push.ts'

/**
 * SQL: whoever follows the ledger is long done with what was written by now, and a service that starts has nothing to
 * read.
 */
export const followersDone = `
  insert into ledger_cursors (name, position)
    select name, position from ledger_head, unnest(array['${INDEX_FOLLOWER}', '${PUSH_FOLLOWER}']) as name`
