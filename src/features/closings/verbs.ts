import { Type } from '@sinclair/typebox'
import { ClosingCheckpoint, ClosingFile } from '../../../schema/events.ts'
import { inputSchema, registerVerb } from '../../ledger/executor/registry/registered-verb.ts'
import { MONTH_PATTERN } from './books.ts'
import { recordedClosing } from './presenters.ts'
import { recordClosing } from './record-closing.ts'

const RecordClosing = inputSchema(
  Type.Object({
    month: Type.String({ pattern: MONTH_PATTERN }),
    position: Type.Integer({ minimum: 0 }),
    made_of: Type.Object({ first: Type.Integer({ minimum: 0 }), last: Type.Integer({ minimum: 0 }) }),
    done: Type.Array(Type.String()),
    failed: Type.Array(Type.String()),
    unchanged: Type.Boolean(),
    files: Type.Array(ClosingFile),
    checkpoint: Type.Union([ClosingCheckpoint, Type.Null()]),
  }),
)

/** The verb of closings. */
export const closingVerbs = () => ({
  recordClosing: registerVerb('record-closing', RecordClosing, recordClosing, {
    status: 201,
    body: (closing) => ({ data: recordedClosing(closing) }),
  }),
})
