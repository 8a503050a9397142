import { type Static, Type } from '@sinclair/typebox'

export const Run = Type.Object({ seconds: Type.Number() })
export type Run = Static<typeof Run>

export const Ran = Type.Object({ commands: Type.Integer(), seconds: Type.Number() })
export type Ran = Static<typeof Ran>

/** Commands of one transaction: the executor's maximum, and that of the plain SQL. */
export const BATCH = 256
