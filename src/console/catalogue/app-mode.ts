import { Value } from '@sinclair/typebox/value'
import { ClientType, type EventData } from '../../../schema/events.ts'
import { defaultMode, modeVersion } from '../../features/app-status/mode.ts'
import { currentMode } from '../../features/app-status/reads.ts'
import type { Micros } from '../../ledger/rules/time.ts'
import type { ConsolePages } from '../console-services.ts'
import { statusCell, textCell, timeCell } from '../layout/cells.ts'
import { type Field, textIn, type Values, valuesOf } from '../layout/fields.ts'
import type { Part } from '../layout/page.ts'
import { announcementBody, announcementFields, announcementIn, clientViews } from './announcements.ts'
import { type Editor, editorPages } from './editor.ts'
import { allReleases, clientTypes } from './releases.ts'

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
  ...announcementFields(),
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
/** The mode that a form comes to. */
function typedMode(values: Values): ModeFields {
  const block = textIn(values['block_unidentified'])
  return {
    maintenance: isOn(values),
    ...announcementIn(values),
    block_unidentified: Value.Check(ClientType, block) ? block : null,
  }
}

const blockText = (type: string | null): string => (type === null ? 'may use the app' : `update as ${type}`)

const isOn = ({ maintenance }: Values): boolean => maintenance === 'on'

/** The mode that is set, or the first one, which never was. */
type ShownMode = ModeFields & { readonly updated_at?: Micros }

const editor: Editor<ShownMode> = {
  path: '/catalogue/app-mode',
  adminPath: '/app-mode',
  noun: 'the app mode',
  isKey: (text) => text === '',
  find: async (db) => (await currentMode(db)) ?? defaultMode,
  titleOf: () => 'App mode',
  facts: ({ maintenance, block_unidentified, updated_at }) => [
    ['Maintenance', maintenance ? statusCell('on', 'waiting') : statusCell('off: the app can be used', 'good')],
    ['Clients that say no type and version', textCell(blockText(block_unidentified))],
    ['Changed', updated_at === undefined ? textCell('never') : timeCell(updated_at)],
  ],
  fields,
  normalised: (values) => valuesOf(fields, typedMode(values)),
  versionOf: modeVersion,
  bodyOf: ({ maintenance, block_unidentified, ...values }) => ({
    maintenance: maintenance === undefined ? undefined : maintenance === 'on',
    ...announcementBody(values),
    block_unidentified: block_unidentified === '' ? null : block_unidentified,
  }),
  parts: {
    shown: async (mode, db) => views('What clients see now', mode, await allReleases(db)),
    review: async (values, _mode, db) => ({
      part: views('What clients would see', typedMode(values), await allReleases(db)),
      problems: [],
      isChange: false,
    }),
  },
  wording: (mode, values) => {
    const title = 'Review the app mode'
    if (isOn(values) === mode?.maintenance)
      return { title, heading: 'Change the app mode', button: 'Save the app mode' }
    const heading = `Switch maintenance ${isOn(values) ? 'on' : 'off'}`
    if (!isOn(values)) return { title, heading, button: heading }
    const warning =
      'Within a second, every client on every instance is refused, and all sockets are closed. Staff can continue to work.'
    return { title, heading, warning, button: heading, look: 'danger' }
  },
}

const views = (heading: string, mode: ModeFields, releases: Parameters<typeof clientViews>[1]): Part => ({
  template: '/catalogue/client-views.eta',
  data: { heading, views: clientViews(mode, releases) },
})

/** /console/catalogue/app-mode: maintenance, with what clients will see, before it is switched. */
export const appModePages: ConsolePages = (scope, services) => editorPages(scope, services, editor)
