import { type Static, Type } from '@sinclair/typebox'
import { Amount, Id, Instant, Text } from './common.ts'
import { AcknowledgedFinding, ClosingCheckpoint, ClosingFile } from './events.ts'
import { arabicForm } from './languages.ts'
import { documentedAs, named } from './named.ts'

/** Requests and responses about the closing of months. */

const Month = Type.String({
  pattern: '^[0-9]{4}-(0[1-9]|1[0-2])$',
  description: 'a month, such as 2026-11',
  ...arabicForm('شهرًا مثل 2026-11'),
})

export const ClosingParams = Type.Object({ month: documentedAs(Type.String(), Month) })

export const CloseMonth = Type.Object({ month: Month })

export const RecordedClosing = named(
  'RecordedClosing',
  Type.Object({
    id: { ...Id, description: 'the position of its event' },
    month: Month,
    first_position: { ...Id, description: 'after the last position of the closing before' },
    position: { ...Amount, description: 'the last one that it covers' },
    closed_at: Instant,
    files: Type.Array(ClosingFile),
    checkpoint: ClosingCheckpoint,
    acknowledged: Type.Array(AcknowledgedFinding, {
      description: 'what its steps found and operators acknowledged, in this month or an earlier one',
    }),
  }),
  'A month that was closed: what it covers, its files and its checkpoint',
)
export type RecordedClosing = Static<typeof RecordedClosing>

export const MonthClosing = named(
  'MonthClosing',
  Type.Object({ ...RecordedClosing.properties, closed_by: Type.String({ description: 'staff:ann' }) }),
  'A closed month: what it covers, its files with their hashes, and its checkpoint',
)
export type MonthClosing = Static<typeof MonthClosing>

const { finding, step, kind, subject } = AcknowledgedFinding.properties

export const ClosingFinding = named(
  'ClosingFinding',
  Type.Object({
    finding,
    step,
    kind,
    subject,
    message: Type.String(),
    may_be_acknowledged: Type.Boolean({
      description:
        'false: a wrong hash of the chain, or a table that differs from its replay, which `rebuild` restores',
    }),
    acknowledged: Type.Union([AcknowledgedFinding, Type.Null()]),
  }),
  'What a step of a closing found, and whether it was acknowledged',
)
export type ClosingFinding = Static<typeof ClosingFinding>

export const AcknowledgeFinding = Type.Object({ finding, reason: Text(500, 1) })
