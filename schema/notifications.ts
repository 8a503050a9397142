import { type Static, Type } from '@sinclair/typebox'
import { named } from './named.ts'

/** A notification, sent to a user's devices and on their own channel. */
export const Notification = named(
  'Notification',
  Type.Object({
    title: Type.String(),
    body: Type.String(),
    type: Type.String({ description: 'where the app shows it, such as reward' }),
    identifier: Type.String(),
  }),
)
export type Notification = Static<typeof Notification>
