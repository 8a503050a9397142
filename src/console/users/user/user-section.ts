import type { TObject } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'
import type { Kysely } from 'kysely'
import type { Tables } from '../../../db/tables.ts'
import type { App } from '../../../features/services.ts'
import type { ConsoleServices } from '../../console-services.ts'
import { userPath } from '../../frame/cells/links.ts'
import { sendPage } from '../../frame/send-page.ts'
import { defineTemplate } from '../../frame/template.ts'
import { addExports } from '../../lists/exports.ts'
import { type List, partTable, querySchemaOf, readTable, type Table } from '../../lists/list.ts'
import { type LedgerEnds, pageEnd } from '../../lists/page-end.ts'
import { personName } from '../person.ts'
import { findUser } from './find-user.ts'

/** A choice of a filter: the name of its parameter, and its values with their names. */
export interface Choice {
  readonly name: string
  readonly label: string
  readonly options: readonly { readonly value: string; readonly text: string }[]
}

export interface SectionOptions {
  /** Of its page, after the user's: `cards`. */
  readonly path: string
  readonly title: string
  /** What to know about it; on its page, and on the user's. */
  readonly lead?: string
  readonly choices?: readonly Choice[]
}

/** Something that a user has many of: its newest on the user's page, and all on a page of their own. */
export interface UserSection extends SectionOptions {
  /** The newest rows, for the user's page. */
  readonly readNewest: (request: FastifyRequest, db: Kysely<Tables>, ends: LedgerEnds) => Promise<Table>
  readonly addPages: (scope: App, services: ConsoleServices) => void
}

/** Rows of a section on the user's page. */
const NEWEST_ROWS = 8

interface SectionData extends SectionOptions {
  readonly userPath: string
  readonly name: string
  readonly query: Readonly<Record<string, unknown>>
  readonly choices: readonly Choice[]
  readonly table: Table
}

const template = defineTemplate<SectionData>('/users/user/user-section.eta')

/** `list` reads the rows of the user whose id is in the path of the request. */
export function defineUserSection<Filters extends TObject, Row>(
  options: SectionOptions,
  list: List<Filters, Row>,
): UserSection {
  return {
    ...options,
    async readNewest(request, db, ends) {
      const query = Object(null)
      const { at, note } = pageEnd(ends, undefined, list.needsIndex?.(query) ?? false)
      const { rows, next } = await list.read({ query, db, at, cursor: null, limit: NEWEST_ROWS }, request)
      // A long search ends early; its own page goes on.
      const empty = next === null ? list.empty : 'None among the newest events. Follow the link to search on.'
      return partTable({ ...list, empty, rows, note })
    },
    addPages(scope, services) {
      scope.get(
        `/users/:id/${options.path}`,
        { schema: { querystring: querySchemaOf(list) } },
        async (request, reply) => {
          const { db } = await services.chooseReportDatabase()
          const user = await findUser(db, request.params)
          const path = userPath(user.user_id)
          const { table } = await readTable(list, request, services, `${path}/${options.path}`)
          const name = personName(user)
          return sendPage(request, reply, template, {
            title: `${options.title} of ${name}`,
            data: {
              ...options,
              choices: options.choices ?? [],
              userPath: path,
              name,
              query: Object(request.query),
              table,
            },
          })
        },
      )
      const ofKnownUser: typeof list = {
        ...list,
        async read(asked, request) {
          // An unknown user is no user without rows.
          if (asked.cursor === null) await findUser(asked.db, request.params)
          return list.read(asked, request)
        },
      }
      addExports(scope, `/users/:id/${options.path}`, ofKnownUser, services)
    },
  }
}
