import { INDEX_CURSOR } from '../../../src/realtime/channels/channel-index.ts'
import { PUSH_SUBSCRIBER } from '../../../src/startup/notifications.ts'

/** SQL: moves the cursors of all subscribers to the head, so that a service that starts has nothing to catch up with. */
export const cursorsAtHead = `
  insert into ledger_cursors (name, position)
    select name, position from ledger_head, unnest(array['${INDEX_CURSOR}', '${PUSH_SUBSCRIBER}']) as name`
