import { Type } from '@sinclair/typebox'
import { Amount, Id } from '../../../schema/common.ts'
import { inputSchema, registerVerb } from '../../ledger/executor/command.ts'
import { markRead } from './mark-read.ts'

const MarkRead = inputSchema(Type.Object({ user_id: Id, up_to: Amount, number: Amount }))

/** The verb of notifications. */
export const notificationVerbs = {
  markRead: registerVerb('mark-notifications-read', MarkRead, markRead, {
    body: (unread) => ({ meta: { unread } }),
  }),
}
