import { Type } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'
import type { Kysely } from 'kysely'
import type { Tables } from '../../db/tables.ts'
import type { App } from '../../features/services.ts'
import { notFound } from '../../http/errors/http-error.ts'
import type { ConsoleServices } from '../console-services.ts'
import { addReviewedAction, expectsField, FOUR_EYES } from '../layout/action.ts'
import { type Facts, textCell } from '../layout/cells.ts'
import {
  changedValues,
  changesTable,
  emptyFields,
  type Field,
  type FormField,
  readSentValues,
  readValues,
  type Values,
  valuesOf,
  valuesSchema,
} from '../layout/fields.ts'
import { addressWith } from '../layout/links.ts'
import { type Form, type Part, type Section, type SectionsPage, sendSections } from '../layout/page.ts'
import type { PageScript } from '../layout/send-page.ts'
import { addListPage } from '../lists/list-page.ts'
import { requireOperator, staffOf } from '../session/session-check.ts'
import type { CatalogueList } from './whole-list.ts'

/** What a review says where that is not `Change gift 3`. */
interface Wording {
  readonly title: string
  readonly heading: string
  readonly warning?: string | null
  readonly button: string
  readonly look?: 'danger' | undefined
}

/** Something of the catalogue that staff look at and change: gifts, packages, countries, releases, the app's mode. */
export interface Editor<Row> {
  /** After `/console`; the same after `/catalogue` of the menu of the catalogue. */
  readonly path: `/catalogue/${string}`
  /** Under /admin/v1. */
  readonly adminPath: string
  /** One of them: `gift`. */
  readonly noun: string
  /** What kinds have of which there are several. What there is one of has no key: the empty text. */
  readonly many?: Many<Row>
  readonly isKey: (text: string) => boolean
  readonly find: (db: Kysely<Tables>, key: string) => Promise<Row | undefined>
  readonly titleOf: (row: Row) => string
  readonly facts: (row: Row) => Facts
  readonly fields: readonly Field<Row>[]
  /** What was typed, as the form would show what it comes to. */
  readonly normalised?: (values: Values) => Values
  /** The version of what its PUT sets. */
  readonly versionOf: (row: Row) => string
  /** The body of its PUT, of the values that were sent. */
  readonly bodyOf: (values: Values) => Readonly<Record<string, unknown>>
  readonly parts?: Parts<Row>
  readonly scripts?: readonly PageScript[]
  readonly wording?: (row: Row | undefined, values: Values) => Wording
}

interface Many<Row> {
  readonly list: CatalogueList<Row>
  /** The field that a new one is named by, and what its form begins with. */
  readonly key: Omit<FormField, 'name'>
  readonly nextKey: (db: Kysely<Tables>) => Promise<string>
  /** What comes of removing one; without it none can be removed. */
  readonly removal?: string
}

interface Parts<Row> {
  /** Inputs besides `fields`: their names, what they begin with, and how they are shown. */
  readonly inputs?: {
    readonly names: readonly string[]
    readonly valuesOf: (row: Row) => Values
    readonly show: (values: Values) => Part
  }
  readonly shown: (row: Row, db: Kysely<Tables>) => Part | Promise<Part>
  /** What the changed one would be like, and why it would be refused. */
  readonly review: (
    values: Values,
    row: Row | undefined,
    db: Kysely<Tables>,
    key: string,
  ) => Promise<{ readonly part: Part; readonly problems: readonly string[]; readonly isChange: boolean }>
}

/** The pages of an editor: the list, one of it with its form, a new one, and the review before anything is changed. */
export function editorPages<Row>(scope: App, services: ConsoleServices, editor: Editor<Row>): void {
  const { path, adminPath, noun, many, fields, parts } = editor
  const { scripts = [], normalised = (values) => values } = editor
  const page = `/console${path}`
  const names = [...fields.map(({ name }) => name), ...(parts?.inputs?.names ?? [])]
  const fieldSchema = valuesSchema(names)
  const Edited = Type.Object({ edited: Type.Optional(Type.String({ maxLength: 1 })), ...fieldSchema })
  const New = Type.Object({ key: Type.Optional(Type.String({ maxLength: 20 })), ...Edited.properties })
  const onePath = many === undefined ? path : `${path}/:key`
  const { db } = services

  const addressOf = (key: string): string => (key === '' ? page : `${page}/${key}`)
  const adminPathOf = (key: string): string => (key === '' ? adminPath : `${adminPath}/${key}`)
  const nameOf = (key: string): string => (key === '' ? noun : `${noun} ${key}`)
  const keyOf = (request: FastifyRequest): string => {
    const { key = '' } = Object(request.params)
    // It need not be there: a form that is sent twice is answered twice.
    if (!editor.isKey(key)) throw notFound()
    return key
  }
  const rowOf = async (request: FastifyRequest): Promise<Row> => {
    const row = await editor.find(db, keyOf(request))
    if (row === undefined) throw notFound()
    return row
  }
  const allValues = (row: Row | undefined): Values => ({
    ...valuesOf(fields, row),
    ...(row === undefined ? {} : parts?.inputs?.valuesOf(row)),
  })
  const formOf = (values: Values, shown: readonly FormField[], key?: string): Form => ({
    method: 'get',
    action: `${page}/review`,
    class: 'editor',
    hidden: { edited: '1', ...(key === undefined || key === '' ? {} : { key }) },
    fields: shown,
    values,
    inputs: parts?.inputs?.show(values) ?? null,
    button: 'Review',
    hint: 'Nothing is changed yet: the next page shows what would be.',
  })
  /** Why what was sent was not saved, and where to continue with it. */
  const conflict = (message: string, href: string, text: string): SectionsPage => ({
    title: 'Nothing was saved',
    tab: page,
    sections: [{ alert: message }, { text: [{ href, text }] }],
  })

  if (many !== undefined) addMany(many)

  addReviewedAction(scope, services, {
    path: onePath,
    reviewPath: `${path}/review`,
    query: New,
    async review(_request, query) {
      const key = many === undefined ? '' : (query.key ?? '')
      const values = normalised(readValues(names, query))
      const isKey = editor.isKey(key)
      const row = isKey ? await editor.find(db, key) : undefined
      const isNew = row === undefined
      const changes = changesTable(fields, row, values)
      const review = (await parts?.review(values, row, db, key)) ?? null
      const problems = [
        ...(isKey ? [] : [`${many?.key.label ?? noun}: this cannot name a ${noun}.`]),
        ...emptyFields(fields, values),
        ...(review?.problems ?? []),
      ]
      const isPartChange = review?.isChange === true
      const wording = editor.wording?.(row, values) ?? wordingOf(noun, key, isNew)
      const hidden = {
        expects: isNew ? '' : editor.versionOf(row),
        ...changedValues(fields, row, values),
        ...(isNew || isPartChange ? readValues(parts?.inputs?.names ?? [], values) : {}),
      }
      const form: Form = {
        method: 'post',
        action: addressOf(key),
        hidden,
        button: wording.button,
        look: wording.look,
      }
      const back = addressWith(isNew ? `${page}/new` : addressOf(key), {
        ...(isNew ? { key } : {}),
        edited: 1,
        ...values,
      })
      return {
        title: wording.title,
        heading: [textCell(wording.heading)],
        tab: page,
        status: problems.length === 0 ? 200 : 422,
        sections: [
          { warning: wording.warning },
          problems.length === 0 ? { note: FOUR_EYES } : { alert: 'This cannot be saved:', list: problems },
          { title: 'What would change', table: changes },
          review === null ? null : { part: review.part },
          problems.length === 0 && (changes.rows.length > 0 || isPartChange) ? { form } : null,
          { text: [{ href: back, text: 'Back to the form' }] },
        ],
      }
    },
    fields: { ...expectsField, ...fieldSchema },
    action(request, form) {
      const key = keyOf(request)
      const body = editor.bodyOf(readSentValues(names, form))
      return { method: 'PUT', path: adminPathOf(key), body, back: addressOf(key), done: 'saved' }
    },
    async refused(request, form, { status }) {
      if (status === 422) return null
      const key = keyOf(request)
      const sent = readSentValues(names, form)
      if (form.expects === '' && many !== undefined) {
        const href = addressWith(`${page}/new`, { edited: 1, ...sent, key: await many.nextKey(db) })
        return conflict(`Somebody else created ${nameOf(key)} before you.`, href, `Create yours as another ${noun}`)
      }
      const row = await editor.find(db, key)
      const verb = row === undefined ? 'removed' : 'changed'
      const href = addressWith(`${page}/review`, { edited: 1, ...allValues(row), ...sent, key })
      return conflict(
        `Somebody ${verb} ${nameOf(key)} after you reviewed your change of it.`,
        href,
        'Review your change again',
      )
    },
  })

  scope.get(onePath, { schema: { querystring: Edited } }, async (request, reply) => {
    const row = await rowOf(request)
    const key = keyOf(request)
    const query = request.query
    const values = query.edited === undefined ? allValues(row) : readValues(names, query)
    const title = editor.titleOf(row)
    const change: Section = { title: 'Change', note: FOUR_EYES, form: formOf(values, fields, key) }
    const remove =
      many?.removal === undefined ? null : { href: `${addressOf(key)}/remove`, text: `Remove this ${noun} …` }
    const mayWrite = staffOf(request).role === 'operator'
    return sendSections(request, reply, {
      title,
      heading: [textCell(title)],
      tab: page,
      scripts,
      sections: [
        { facts: editor.facts(row), part: await parts?.shown(row, db) },
        ...(mayWrite ? [change, { text: remove === null ? null : [remove] }] : []),
      ],
    })
  })

  function addMany({ list, key: keyField, nextKey, removal }: Many<Row>): void {
    addListPage(scope, services, {
      path,
      tab: page,
      list,
      extras: (request) => ({
        first: [
          { actions: staffOf(request).role === 'operator' ? [{ href: `${page}/new`, text: `New ${noun}` }] : null },
        ],
        after: [
          { hint: 'A page of an earlier position leaves out what was added since; what it shows is as it is now.' },
        ],
      }),
    })

    scope.get(`${path}/new`, { schema: { querystring: New } }, async (request, reply) => {
      requireOperator(request)
      const { query } = request
      const values =
        query.edited === undefined
          ? { key: await nextKey(db), ...allValues(undefined) }
          : readValues(['key', ...names], query)
      const form = formOf(values, [{ name: 'key', ...keyField }, ...fields])
      return sendSections(request, reply, {
        title: `New ${noun}`,
        tab: page,
        scripts,
        sections: [{ note: FOUR_EYES, form }],
      })
    })

    if (removal === undefined) return
    addReviewedAction(scope, services, {
      path: `${onePath}/remove`,
      query: Type.Object({}),
      async review(request) {
        const row = await rowOf(request)
        const key = keyOf(request)
        const title = `Remove ${nameOf(key)}`
        return {
          title,
          tab: page,
          sections: [
            {
              text: removal,
              facts: editor.facts(row),
              form: {
                method: 'post',
                action: `${addressOf(key)}/remove`,
                hidden: { expects: editor.versionOf(row) },
                button: title,
                look: 'danger',
              },
            },
            { text: [{ href: addressOf(key), text: 'Keep it' }] },
          ],
        }
      },
      fields: expectsField,
      action: (request) => ({ method: 'DELETE', path: adminPathOf(keyOf(request)), back: page, done: 'removed' }),
      async refused(request, _form, { status }) {
        if (status === 422) return null
        const key = keyOf(request)
        const isGone = (await editor.find(db, key)) === undefined
        const message = `Somebody ${isGone ? 'removed' : 'changed'} ${nameOf(key)} after you reviewed its removal.`
        return isGone
          ? conflict(message, page, `All ${noun}s`)
          : conflict(message, `${addressOf(key)}/remove`, 'Review its removal again')
      },
    })
  }
}

const wordingOf = (noun: string, key: string, isNew: boolean): Wording => ({
  title: isNew ? `Review new ${noun}` : `Review ${noun} ${key}`,
  heading: isNew ? `New ${noun} ${key}` : `Change ${noun} ${key}`,
  button: `${isNew ? 'Create' : 'Save'} ${noun} ${key}`,
})
