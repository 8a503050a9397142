import { test } from 'tap'
import type { EventData } from '../../../schema/events.ts'
import { evolveModes, setMode } from '../../../src/features/app-status/mode.ts'
import {
  type DefineRelease,
  defineRelease,
  evolveReleases,
  removeRelease,
} from '../../../src/features/app-status/release.ts'
import { modeRecord } from '../../../src/features/app-status/verbs.ts'
import { givenWhen } from '../../harness/ledger/given-when.ts'

const open: EventData<'app-mode-set'> = {
  maintenance: false,
  title: { en: 'Maintenance', ar: 'صيانة' },
  message: { en: 'We will be back soon.', ar: 'سنعود قريبًا.' },
  block_unidentified: null,
}
const first: EventData<'release-defined'> = {
  client_type: 'ios',
  version: '2.0',
  minimum_version: null,
  store_link: 'https://store.example',
  title: { en: 'Update available', ar: 'يتوفر تحديث' },
  message: { en: 'Please install the new version.', ar: 'يرجى تثبيت الإصدار الجديد.' },
}
const { store_link } = first
const setTo = (data: Partial<typeof open>) =>
  ({ type: 'app-mode-set', data: { ...open, ...data }, movements: [] }) as const
const defined = (data: Partial<typeof first> = {}) =>
  ({ type: 'release-defined', data: { ...first, ...data }, movements: [] }) as const

const statusRules = () => givenWhen(evolveModes, evolveReleases)

test('a mode is changed field by field and language by language', async (t) => {
  const { when } = statusRules()
  const did = (input: Parameters<typeof setMode.decide>[1]) => {
    const { events, answer, refusal } = when(setMode, input)
    t.equal(refusal, undefined)
    return { events: events.map(({ type, data }) => ({ type, data, movements: [] })), answer: modeRecord(answer) }
  }
  t.match(did({}), { events: [setTo({})], answer: { ...open, updated_at: '2026-11-21T08:00:00.000000Z' } })
  t.same(did({}).events, [], 'an identical mode writes no event')
  t.same(did({ maintenance: true, message: { ar: 'قريبًا' } }).events, [
    setTo({ maintenance: true, message: { en: open.message.en, ar: 'قريبًا' } }),
  ])
  t.same(did({ block_unidentified: 'flutter' }).events[0]?.data, {
    ...open,
    maintenance: true,
    message: { en: open.message.en, ar: 'قريبًا' },
    block_unidentified: 'flutter',
  })
  t.same(did({ maintenance: true, block_unidentified: 'flutter' }).events, [])
  t.match(did({ maintenance: false, block_unidentified: null }).answer, {
    maintenance: false,
    block_unidentified: null,
  })
})

test('a release is defined, changed and removed', async (t) => {
  const above = { minimum_version: ['The value must not be above version.'] }
  const address = { store_link: ['The value must be an address that begins with https://.'] }
  type Change = Omit<DefineRelease, 'client_type'>
  const rows: readonly (readonly [given: Partial<typeof first> | null, input: Change, unknown])[] = [
    [null, {}, { version: ['This field is required.'] }],
    [null, { minimum_version: '1' }, { version: ['This field is required.'] }],
    [null, { version: '2.x', minimum_version: 'y' }, { version: ['The version cannot be read.'] }],
    [null, { version: '2', minimum_version: 'y' }, { minimum_version: ['The version cannot be read.'] }],
    [null, { version: '2', minimum_version: '2.0.1' }, above],
    [null, { version: '2-rc.1', minimum_version: '2' }, above],
    [{ minimum_version: '1.5' }, { version: '1.4' }, above],
    [null, { version: '2.0' }, address],
    [{ store_link: '' }, { version: '2' }, address],
    [null, { version: '2', store_link: 'https://?' }, address],
    [null, { version: '2.0', store_link }, defined()],
    [null, { version: '2', minimum_version: '2.0.0', store_link }, defined({ version: '2', minimum_version: '2.0.0' })],
    [{}, { version: '2.0.0' }, defined({ version: '2.0.0' })],
    [{}, { minimum_version: '1' }, defined({ minimum_version: '1' })],
    [{ minimum_version: '1' }, { minimum_version: null }, defined()],
    [{ minimum_version: '1' }, { store_link: 'https://a' }, defined({ minimum_version: '1', store_link: 'https://a' })],
    [{}, { title: { en: 'New' } }, defined({ title: { en: 'New', ar: first.title.ar } })],
    [{}, { title: { ...first.title }, version: '2.0' }, null],
  ]
  for (const [before, input, expected] of rows) {
    const { given, when } = statusRules()
    if (before !== null) given(defined(before))
    const { events, refusal, answer } = when(defineRelease, { client_type: 'ios', ...input })
    const name = JSON.stringify([before, input])
    const errors =
      refusal === undefined ? events.map(({ type, data }) => ({ type, data, movements: [] }))[0] : refusal.errors
    t.same(errors ?? null, expected, name)
    if (refusal === undefined) t.match(answer, { client_type: 'ios', version: input.version ?? '2.0' }, name)
    else t.equal(refusal.refusal, 'validation_failed')
  }

  const { given, when } = statusRules()
  t.match(when(removeRelease, { client_type: 'ios' }), { refusal: { refusal: 'not_found' } })
  given(defined(), defined({ client_type: 'android' }))
  t.match(when(removeRelease, { client_type: 'ios' }).events, [
    { type: 'release-removed', data: { client_type: 'ios' } },
  ])
  t.match(when(removeRelease, { client_type: 'ios' }), { refusal: { refusal: 'not_found' } })
  t.equal(when(defineRelease, { client_type: 'android' }).events.length, 0, 'the other release stays')
  t.match(when(defineRelease, { client_type: 'ios', version: '3', store_link }).answer, {
    version: '3',
    minimum_version: null,
  })
})
