import { INDEX_CURSOR } from '../../../src/realtime/channels/channel-index.ts'
import { PUSH_SUBSCRIBER } from '../../../src/startup/notifications.ts'

/**
 * SQL: whoever follows the ledger is long done with what was written by now, and a service that starts has nothing to
 * read.
 */
export const cursorsAtHead = `
  insert into ledger_cursors (name, position)
    select name, position from ledger_head, unnest(array['${INDEX_CURSOR}', '${PUSH_SUBSCRIBER}']) as name`
