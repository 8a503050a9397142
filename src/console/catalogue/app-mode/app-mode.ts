import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { ClientType, type EventData } from '../../../../schema/events.ts'
import { defaultMode, type Mode, modeVersion } from '../../../features/app-status/mode.ts'
import { currentMode } from '../../../features/app-status/reads.ts'
import type { ConsolePages } from '../../console-services.ts'
import { changedValues, changesTable, emptyFields, type Field, type FormField, valuesOf } from '../../forms/fields.ts'
import { readSentValues, readValues, textIn, type Values, valuesSchema } from '../../forms/values.ts'
import { act, actFields, expectsField, isConflict } from '../../frame/act.ts'
import { addressWith } from '../../frame/address.ts'
import { type Cell, statusCell, textCell, timeCell } from '../../frame/cells/cells.ts'
import { sendPage } from '../../frame/send-page.ts'
import { defineTemplate } from '../../frame/template.ts'
import type { Table } from '../../lists/list.ts'
import { requireOperator } from '../../session/require-operator.ts'
import { type ClientView, clientViews } from '../client-views.ts'
import { sendConflict } from '../conflict.ts'
import { allReleases, clientTypes } from '../releases/releases.ts'

type ModeFields = EventData<'app-mode-set'>

const fields: readonly Field<ModeFields>[] = [
  {
    name: 'maintenance',
    label: 'Maintenance',
    hint: 'While it is on, every request of clients is refused, and their sockets are closed.',
    control: {
      kind: 'choice',
      options: [
        ['off', 'off'],
        ['on', 'on'],
      ],
    },
    valueOf: ({ maintenance }) => (maintenance ? 'on' : 'off'),
  },
  {
    name: 'title_en',
    label: 'Title in English',
    control: { kind: 'line', maxLength: 100, isRequired: true },
    valueOf: ({ title }) => title.en,
  },
  {
    name: 'title_ar',
    label: 'Title in Arabic',
    control: { kind: 'line', maxLength: 100, isRequired: true, language: 'ar' },
    valueOf: ({ title }) => title.ar,
  },
  {
    name: 'message_en',
    label: 'Message in English',
    control: { kind: 'lines', maxLength: 500, isRequired: true },
    valueOf: ({ message }) => message.en,
  },
  {
    name: 'message_ar',
    label: 'Message in Arabic',
    control: { kind: 'lines', maxLength: 500, isRequired: true, language: 'ar' },
    valueOf: ({ message }) => message.ar,
  },
  {
    name: 'block_unidentified',
    label: 'Clients that say no type and version',
    hint: 'They can be asked to update to the release of a type of client, if it has one.',
    control: {
      kind: 'choice',
      options: [['', 'may use the app'], ...clientTypes.map((type): [string, string] => [type, `update as ${type}`])],
    },
    valueOf: ({ block_unidentified }) => block_unidentified ?? '',
  },
]
const names = fields.map(({ name }) => name)
const fieldSchema = valuesSchema(names)
const Edited = Type.Object({ edited: Type.Optional(Type.String({ maxLength: 1 })), ...fieldSchema })

interface ModePage {
  readonly facts: readonly (readonly [string, Cell])[]
  readonly views: readonly ClientView[]
  readonly form: { readonly fields: readonly FormField[]; readonly values: Values }
}
interface ReviewPage {
  readonly problems: readonly string[]
  readonly isOn: boolean
  readonly wasOn: boolean
  readonly changes: Table
  readonly views: readonly ClientView[]
  /** What is sent: only what changes. */
  readonly values: Values
  /** The version that is changed. */
  readonly expects: string
  readonly backHref: string
}
const modeTemplate = defineTemplate<ModePage>('/catalogue/app-mode/app-mode.eta')
const reviewTemplate = defineTemplate<ReviewPage>('/catalogue/app-mode/review.eta')

/** The mode that a form comes to. */
function typedMode(values: Values): ModeFields {
  const block = textIn(values['block_unidentified'])
  const text = (name: string): string => values[name] ?? ''
  return {
    maintenance: values['maintenance'] === 'on',
    title: { en: text('title_en'), ar: text('title_ar') },
    message: { en: text('message_en'), ar: text('message_ar') },
    block_unidentified: Value.Check(ClientType, block) ? block : null,
  }
}

const factsOf = (mode: Mode | undefined): ModePage['facts'] => [
  [
    'Maintenance',
    mode?.maintenance === true ? statusCell('on', 'waiting') : statusCell('off: the app can be used', 'good'),
  ],
  ['Clients that say no type and version', textCell(blockText(mode?.block_unidentified ?? null))],
  ['Changed', mode === undefined ? textCell('never') : timeCell(mode.updated_at)],
]

const blockText = (type: string | null): string => (type === null ? 'may use the app' : `update as ${type}`)

/** /console/catalogue/app-mode: maintenance, with what clients will see, before it is switched. */
export const appModePages: ConsolePages = (scope, services) => {
  const { db } = services
  const read = async () => {
    const [mode, releases] = await Promise.all([currentMode(db), allReleases(db)])
    return { mode, current: mode ?? defaultMode, releases }
  }

  scope.get('/catalogue/app-mode', { schema: { querystring: Edited } }, async (request, reply) => {
    const { mode, current, releases } = await read()
    const { query } = request
    const values = query.edited === undefined ? valuesOf(fields, current) : readValues(names, query)
    return sendPage(request, reply, modeTemplate, {
      title: 'App mode',
      data: { facts: factsOf(mode), views: clientViews(current, releases), form: { fields, values } },
    })
  })

  scope.get('/catalogue/app-mode/review', { schema: { querystring: Edited } }, async (request, reply) => {
    requireOperator(request)
    const { current, releases } = await read()
    const typed = typedMode(readValues(names, request.query))
    const values = valuesOf(fields, typed)
    const problems = emptyFields(fields, values)
    return sendPage(request, reply, reviewTemplate, {
      title: 'Review the app mode',
      status: problems.length === 0 ? 200 : 422,
      data: {
        problems,
        isOn: typed.maintenance,
        wasOn: current.maintenance,
        changes: changesTable(fields, current, values),
        views: clientViews(typed, releases),
        values: changedValues(fields, current, values),
        expects: modeVersion(current),
        backHref: addressWith('/console/catalogue/app-mode', { edited: 1, ...values }),
      },
    })
  })

  scope.post(
    '/catalogue/app-mode',
    { schema: { body: Type.Object({ ...actFields, ...expectsField, ...fieldSchema }) } },
    async (request, reply) => {
      const values = readSentValues(names, request.body)
      const { maintenance, block_unidentified } = values
      try {
        return await act(request, reply, services, {
          method: 'PUT',
          path: '/app-mode',
          body: {
            maintenance: maintenance === undefined ? undefined : maintenance === 'on',
            title: { en: values['title_en'], ar: values['title_ar'] },
            message: { en: values['message_en'], ar: values['message_ar'] },
            block_unidentified: block_unidentified === '' ? null : block_unidentified,
          },
          expects: request.body.expects,
          key: request.body.key,
          back: '/console/catalogue/app-mode',
          done: 'saved',
        })
      } catch (error) {
        if (!isConflict(error)) throw error
        const { current } = await read()
        const again = { edited: 1, ...valuesOf(fields, current), ...values }
        return sendConflict(request, reply, {
          path: '/console/catalogue/app-mode',
          message: 'Somebody changed the app mode after you reviewed your change of it.',
          next: { href: addressWith('/console/catalogue/app-mode/review', again), text: 'Review your change again' },
        })
      }
    },
  )
}
