import { type Static, Type } from '@sinclair/typebox'

export const Run = Type.Object({ seconds: Type.Number() })
export type Run = Static<typeof Run>

export const Ran = Type.Object({ commands: Type.Integer(), seconds: Type.Number() })
export type Ran = Static<typeof Ran>

/** Commands in one transaction: what the executor takes at most, and what the limit does. */
export const BATCH = 256
