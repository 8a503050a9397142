import { type Static, Type } from '@sinclair/typebox'
import { Flag, Instant, Prose, Text } from './common.ts'
import { ClientType } from './events.ts'
import { arabicForm, LocalizedText } from './languages.ts'
import { named } from './named.ts'

/** The bodies of `app-status`, also sent with 503 and 426; they have no fields besides these. */
const statusBody = <T extends string, D extends Parameters<typeof Type.Object>[0]>(type: T, data: D) =>
  Type.Object({ status: Type.Literal('success'), type: Type.Literal(type), data: Type.Object(data) })

export const Maintenance = named(
  'Maintenance',
  statusBody('maintenance', { title: Type.String(), message: Type.String() }),
)

export const Update = named(
  'Update',
  statusBody('update', {
    is_force: Type.Boolean({ description: 'Whether the client may not be used as it is' }),
    version: Type.String({ description: 'The version to update to' }),
    store_link: Type.String(),
    title: Type.String(),
    message: Type.String(),
  }),
)

const Nothing = named('NoUpdate', statusBody('none', {}))

export const AppStatus = named(
  'AppStatus',
  Type.Union([Maintenance, Update, Nothing]),
  'What the client has to show before anything else: maintenance, an update, or nothing',
)
export type AppStatus = Static<typeof AppStatus>

/** Read from the headers or from the query. A value that cannot be read counts as absent. */
export const AppStatusQuery = Type.Object({
  'Client-Type': Type.Optional(Type.String({ description: 'android, ios or flutter; better as a header' })),
  'Client-Version': Type.Optional(Type.String({ description: 'The installed version; better as a header' })),
  lang: Type.Optional(Type.String({ description: 'ar or en; wins over Accept-Language' })),
})

export const AppStatusHeaders = Type.Object({
  'Client-Type': Type.Optional(Type.String({ description: 'android, ios or flutter' })),
  'Client-Version': Type.Optional(Type.String({ description: 'The installed version' })),
})

/**
 * `1.10.2`, `2.0-rc.1`, `1.4.0+88`: numbers between dots; a pre-release after a dash is below its release; what follows
 * a plus does not count.
 */
const VERSION_PATTERN = '^[0-9]+(\\.[0-9]+)*(-[0-9A-Za-z-]+(\\.[0-9A-Za-z-]+)*)?(\\+[0-9A-Za-z.-]+)?$'

/** The longest version that is read. */
export const MAX_VERSION_LENGTH = 64

const Version = Type.String({
  maxLength: MAX_VERSION_LENGTH,
  pattern: VERSION_PATTERN,
  description: 'a version: numbers with dots between them, such as 1.10.2, 2.0-rc.1 or 1.4.0+88',
  ...arabicForm('رقم إصدار: أعدادًا تفصل بينها نقاط، مثل 1.10.2 أو 2.0-rc.1 أو 1.4.0+88'),
})

const inBothLanguages = <T extends ReturnType<typeof Type.String>>(text: T) =>
  Type.Optional(Type.Object({ en: Type.Optional(text), ar: Type.Optional(text) }))

const title = inBothLanguages(Text(100, 1))
const message = inBothLanguages(Prose(500, 1))

export const SetAppMode = named(
  'AppModeChange',
  Type.Object({
    maintenance: Type.Optional(Flag),
    title,
    message,
    block_unidentified: Type.Optional(
      Type.Union([Type.Null(), ClientType], {
        description:
          'Clients whose type and version are unknown are asked to update to the release of this type, if it has one; ' +
          'null lets them pass',
      }),
    ),
  }),
)

export const AppMode = named(
  'AppMode',
  Type.Object({
    maintenance: Type.Boolean(),
    title: LocalizedText,
    message: LocalizedText,
    block_unidentified: Type.Union([Type.Null(), ClientType]),
    updated_at: Type.Union([Instant, Type.Null()], { description: 'null if it was never set' }),
  }),
  'Whether the app is in maintenance, with what clients then show, and who is asked to update',
)
export type AppMode = Static<typeof AppMode>

export const ReleaseParams = Type.Object({ client_type: ClientType })

export const DefineRelease = named(
  'ReleaseDefinition',
  Type.Object({
    version: Type.Optional(Version),
    minimum_version: Type.Optional(
      Type.Union([Type.Null(), Version], {
        description: 'Clients below it are refused; null refuses none. Not above version',
      }),
    ),
    store_link: Type.Optional(
      Type.String({
        maxLength: 500,
        pattern: '^https://[\\x21-\\x7e]+$',
        title: 'an address that begins with https://',
        ...arabicForm('عنوانًا يبدأ بـ https://'),
        description: 'Of the app in its store; a new release needs one',
      }),
    ),
    title,
    message,
  }),
)

export const Release = named(
  'Release',
  Type.Object({
    client_type: ClientType,
    version: Type.String(),
    minimum_version: Type.Union([Type.Null(), Type.String()]),
    store_link: Type.String(),
    title: LocalizedText,
    message: LocalizedText,
    created_at: Instant,
    updated_at: Instant,
  }),
  'The newest version for a type of client, and the oldest one that may be used',
)
export type Release = Static<typeof Release>

export const ReleaseRemoved = Type.Object({ meta: Type.Object({ message: Type.String() }) })
