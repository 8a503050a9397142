import { Type } from '@sinclair/typebox'
import { arabicForm } from './languages.ts'

/** Names one life of the ledger: 16 random bytes, made when the ledger begins and whenever commits were lost. */
export const Incarnation = Type.String({
  pattern: '^[0-9a-f]{32}$',
  title: '32 of 0-9 a-f',
  ...arabicForm('32 حرفًا من 0-9 وa-f'),
  description: 'the life of the ledger that it belongs to: positions and ids may be used again in another one',
})
