import { type Static, Type } from '@sinclair/typebox'
import { Id, Instant, PathId, SearchWord } from './common.ts'
import { arabicForm, Language } from './languages.ts'
import { named } from './named.ts'

export const UserSearch = Type.Object({ search: SearchWord })

export const UserParams = Type.Object({ id: { ...PathId, description: 'id of the user' } })

export const Country = named(
  'Country',
  Type.Object({ id: Id, name: Type.String() }),
  'A country in which dollars can be withdrawn',
)
export type Country = Static<typeof Country>

/** Push tokens address a user's device: events, responses and logs must not contain them. */
const DeviceToken = Type.String({
  pattern: '^[\\x21-\\x7e]{1,2048}$',
  description: '1 to 2,048 printable ASCII characters without blanks',
  ...arabicForm('من 1 إلى 2,048 حرفًا من حروف ASCII القابلة للطباعة دون فراغات'),
})

export const Platform = Type.Union([Type.Literal('android'), Type.Literal('ios')], {
  description: 'android or ios',
  ...arabicForm('android أو ios'),
})
export type Platform = Static<typeof Platform>

export const RegisterDevice = named(
  'DeviceRegistration',
  Type.Object({
    token: DeviceToken,
    platform: Platform,
    language: Type.Optional({ ...Language, description: 'of its push notifications; en when left out' }),
  }),
)
export const DeviceParams = Type.Object({ token: DeviceToken })

/** A registered device; its token is not repeated. */
export const Device = named(
  'Device',
  Type.Object({ platform: Platform, language: Language, created_at: Instant }),
  'A device that push notifications go to; its token is not repeated',
)
export type Device = Static<typeof Device>

export const DeviceRemoved = Type.Object({ meta: Type.Object({ message: Type.String() }) })
