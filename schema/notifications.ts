import { type Static, Type } from '@sinclair/typebox'

/** What a user is told on their devices and on their own channel. */
export const Notification = Type.Object({
  title: Type.String(),
  body: Type.String(),
  type: Type.String({ description: 'where the app shows it, such as reward' }),
  identifier: Type.String(),
})
export type Notification = Static<typeof Notification>
