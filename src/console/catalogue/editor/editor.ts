import { Type } from '@sinclair/typebox'
import type { Kysely } from 'kysely'
import type { Tables } from '../../../db/tables.ts'
import type { App } from '../../../features/services.ts'
import { notFound } from '../../../http/errors/http-error.ts'
import type { ConsoleServices } from '../../console-services.ts'
import { changedValues, changesTable, emptyFields, type Field, type FormField, valuesOf } from '../../forms/fields.ts'
import { readSentValues, readValues, type Values, valuesSchema } from '../../forms/values.ts'
import { act, actFields, expectsField, isConflict } from '../../frame/act.ts'
import { addressWith } from '../../frame/address.ts'
import { type Cell, formatWord } from '../../frame/cells/cells.ts'
import { type PageScript, sendPage } from '../../frame/send-page.ts'
import { defineTemplate } from '../../frame/template.ts'
import { addExports } from '../../lists/exports.ts'
import { querySchemaOf, readTable, type Table } from '../../lists/list.ts'
import { requireOperator } from '../../session/require-operator.ts'
import { type ConflictPage, sendConflict } from '../conflict.ts'
import type { CatalogueList } from '../whole-list.ts'

/** A part of a page that only one kind of thing has. */
export interface Part {
  readonly template: `/${string}.eta`
  readonly data: object
}

/** Something of the catalogue that staff look at and change: gifts, packages, countries, releases. */
export interface Editor<Row> {
  /** After `/console`; the same after `/catalogue` of the menu of the catalogue. */
  readonly path: `/catalogue/${string}`
  /** Under /admin/v1. */
  readonly adminPath: string
  /** One of them: `gift`. */
  readonly noun: string
  readonly list: CatalogueList<Row>
  /** The field that a new one is named by. */
  readonly key: Omit<FormField, 'name'>
  readonly isKey: (text: string) => boolean
  /** What the form of a new one begins with. */
  readonly nextKey: (db: Kysely<Tables>) => Promise<string>
  readonly find: (db: Kysely<Tables>, key: string) => Promise<Row | undefined>
  readonly titleOf: (row: Row) => string
  readonly facts: (row: Row) => readonly (readonly [string, Cell])[]
  readonly fields: readonly Field<Row>[]
  /** Of what its PUT sets. */
  readonly versionOf: (row: Row) => string
  /** The body of its PUT, of the values that were sent. */
  readonly bodyOf: (values: Values) => Readonly<Record<string, unknown>>
  readonly parts?: Parts<Row>
  readonly scripts?: readonly PageScript[]
  readonly canBeRemoved?: boolean
}

interface Parts<Row> {
  /** Names of fields beside `fields`, and the values that they begin with. */
  readonly names: readonly string[]
  readonly valuesOf: (row: Row) => Values
  readonly shown: (row: Row) => Part
  readonly inputs: (values: Values) => Part | null
  /** What the changed one would be like, and why it would be refused. */
  readonly review: (
    values: Values,
    row: Row | undefined,
    db: Kysely<Tables>,
    key: string,
  ) => Promise<{ readonly part: Part; readonly problems: readonly string[]; readonly isChange: boolean }>
}

interface EditorPage {
  readonly path: string
  readonly noun: string
}
interface FormData {
  readonly fields: readonly FormField[]
  readonly values: Values
  readonly inputs: Part | null
}
const listTemplate = defineTemplate<EditorPage & { table: Table }>('/catalogue/editor/list.eta')
const newTemplate = defineTemplate<EditorPage & { form: FormData }>('/catalogue/editor/new.eta')
const oneTemplate = defineTemplate<
  EditorPage & {
    title: string
    facts: readonly (readonly [string, Cell])[]
    shown: Part | null
    form: FormData
    key: string
    removeHref: string | null
  }
>('/catalogue/editor/one.eta')
const reviewTemplate = defineTemplate<
  EditorPage & {
    title: string
    key: string
    isNew: boolean
    changes: Table
    part: Part | null
    problems: readonly string[]
    isChange: boolean
    /** What is sent: only what changes. */
    values: Values
    /** The version that is changed; empty for a new one. */
    expects: string
    backHref: string
  }
>('/catalogue/editor/review.eta')
const removeTemplate = defineTemplate<
  EditorPage & {
    key: string
    facts: readonly (readonly [string, Cell])[]
    /** The version that is removed. */
    expects: string
  }
>('/catalogue/editor/remove.eta')

/** The pages of an editor: the list, one of it with its form, a new one, and the review before anything is changed. */
export function editorPages<Row>(scope: App, services: ConsoleServices, editor: Editor<Row>): void {
  const { path, noun, list, fields, parts } = editor
  const names = [...fields.map(({ name }) => name), ...(parts?.names ?? [])]
  const fieldSchema = valuesSchema(names)
  const Edited = Type.Object({ edited: Type.Optional(Type.String({ maxLength: 1 })), ...fieldSchema })
  const New = Type.Object({ key: Type.Optional(Type.String({ maxLength: 20 })), ...Edited.properties })
  const Key = Type.Object({ key: Type.String() })
  const page: EditorPage = { path: `/console${path}`, noun }
  const scripts = editor.scripts ?? []
  const allValues = (row: Row | undefined): Values => ({
    ...valuesOf(fields, row),
    ...(row === undefined ? {} : parts?.valuesOf(row)),
  })
  const required = async (key: string): Promise<Row> => {
    const row = editor.isKey(key) ? await editor.find(services.db, key) : undefined
    if (row === undefined) throw notFound()
    return row
  }
  const keyField = { name: 'key', ...editor.key }

  scope.get(path, { schema: { querystring: querySchemaOf(list) } }, async (request, reply) => {
    const { table } = await readTable(list, request, services, `/console${path}`)
    return sendPage(request, reply, listTemplate, { title: list.label, data: { ...page, table } })
  })
  addExports(scope, path, list, services)

  scope.get(`${path}/new`, { schema: { querystring: New } }, async (request, reply) => {
    requireOperator(request)
    const { query } = request
    const values =
      query.edited === undefined
        ? { key: await editor.nextKey(services.db), ...allValues(undefined) }
        : readValues(['key', ...names], query)
    return sendPage(request, reply, newTemplate, {
      title: `New ${noun}`,
      data: { ...page, form: { fields: [keyField, ...fields], values, inputs: parts?.inputs(values) ?? null } },
      scripts,
    })
  })

  scope.get(`${path}/review`, { schema: { querystring: New } }, async (request, reply) => {
    requireOperator(request)
    const key = request.query.key ?? ''
    const values = readValues(names, request.query)
    const { db } = services
    const isKey = editor.isKey(key)
    const row = isKey ? await editor.find(db, key) : undefined
    const changes = changesTable(fields, row, values)
    const review = (await parts?.review(values, row, db, key)) ?? null
    const problems = [
      ...(isKey ? [] : [`${editor.key.label}: this cannot name a ${noun}.`]),
      ...emptyFields(fields, values),
      ...(review?.problems ?? []),
    ]
    const isNew = row === undefined
    const arePartsSent = isNew || review?.isChange === true
    return sendPage(request, reply, reviewTemplate, {
      title: isNew ? `Review new ${noun}` : `Review ${noun} ${key}`,
      status: problems.length === 0 ? 200 : 422,
      data: {
        ...page,
        title: isNew ? `New ${noun} ${key}` : `Change ${noun} ${key}`,
        key,
        isNew,
        changes,
        part: review?.part ?? null,
        problems,
        isChange: changes.rows.length > 0 || review?.isChange === true,
        values: {
          ...changedValues(fields, row, values),
          ...(arePartsSent ? readValues(parts?.names ?? [], values) : {}),
        },
        expects: isNew ? '' : editor.versionOf(row),
        backHref: addressWith(`/console${path}/${isNew ? 'new' : key}`, {
          ...(isNew ? { key } : {}),
          edited: 1,
          ...values,
        }),
      },
    })
  })

  scope.get(`${path}/:key`, { schema: { params: Key, querystring: Edited } }, async (request, reply) => {
    const { key } = request.params
    const row = await required(key)
    const { query } = request
    const values = query.edited === undefined ? allValues(row) : readValues(names, query)
    const title = editor.titleOf(row)
    return sendPage(request, reply, oneTemplate, {
      title,
      data: {
        ...page,
        title,
        key,
        facts: editor.facts(row),
        shown: parts?.shown(row) ?? null,
        form: { fields, values, inputs: parts?.inputs(values) ?? null },
        removeHref: editor.canBeRemoved === true ? `/console${path}/${key}/remove` : null,
      },
      scripts,
    })
  })

  scope.post(
    `${path}/:key`,
    { schema: { params: Key, body: Type.Object({ ...actFields, ...expectsField, ...fieldSchema }) } },
    async (request, reply) => {
      const { key } = request.params
      if (!editor.isKey(key)) throw notFound()
      const sent = readSentValues(names, request.body)
      try {
        return await act(request, reply, services, {
          method: 'PUT',
          path: `${editor.adminPath}/${key}`,
          body: editor.bodyOf(sent),
          expects: request.body.expects,
          key: request.body.key,
          back: `/console${path}/${key}`,
          done: 'saved',
        })
      } catch (error) {
        if (!isConflict(error)) throw error
        return sendConflict(request, reply, await conflictOf(services.db, key, sent, request.body.expects === ''))
      }
    },
  )

  /** Why what was sent was not saved, and where one goes on with it. */
  const conflictOf = async (db: Kysely<Tables>, key: string, sent: Values, wasNew: boolean): Promise<ConflictPage> => {
    const row = await editor.find(db, key)
    const address = (name: string, values: Values) => addressWith(`${page.path}/${name}`, { edited: 1, ...values })
    if (wasNew) {
      const message = `Somebody else created ${noun} ${key} before you.`
      const href = address('new', { ...sent, key: await editor.nextKey(db) })
      return { path: page.path, message, next: { href, text: `Create yours as another ${noun}` } }
    }
    const verb = row === undefined ? 'removed' : 'changed'
    const message = `Somebody ${verb} ${noun} ${key} after you reviewed your change of it.`
    const href = address('review', { ...allValues(row), ...sent, key })
    return { path: page.path, message, next: { href, text: 'Review your change again' } }
  }

  if (editor.canBeRemoved !== true) return
  scope.get(`${path}/:key/remove`, { schema: { params: Key } }, async (request, reply) => {
    requireOperator(request)
    const { key } = request.params
    const row = await required(key)
    return sendPage(request, reply, removeTemplate, {
      title: `Remove ${noun} ${formatWord(key)}`,
      data: { ...page, key, facts: editor.facts(row), expects: editor.versionOf(row) },
    })
  })
  const RemoveForm = Type.Object({ ...actFields, ...expectsField })
  scope.post(`${path}/:key/remove`, { schema: { params: Key, body: RemoveForm } }, async (request, reply) => {
    const { key } = request.params
    // Not whether it is there: a form that is sent twice is answered twice.
    if (!editor.isKey(key)) throw notFound()
    try {
      return await act(request, reply, services, {
        method: 'DELETE',
        path: `${editor.adminPath}/${key}`,
        expects: request.body.expects,
        key: request.body.key,
        back: `/console${path}`,
        done: 'removed',
      })
    } catch (error) {
      if (!isConflict(error)) throw error
      const isGone = (await editor.find(services.db, key)) === undefined
      return sendConflict(request, reply, {
        path: page.path,
        message: `Somebody ${isGone ? 'removed' : 'changed'} ${noun} ${key} after you reviewed its removal.`,
        next: isGone
          ? { href: page.path, text: `All ${noun}s` }
          : { href: `${page.path}/${key}/remove`, text: 'Review its removal again' },
      })
    }
  })
}
