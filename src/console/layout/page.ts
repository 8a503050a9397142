import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Verdict } from '../../features/fairness/verdict.ts'
import type { ShownFilters, Table } from '../lists/list.ts'
import { type Cell, type Facts, type Link, sentenceCase, type Words } from './cells.ts'
import type { FormField, Values } from './fields.ts'
import { type PageScript, sendPage } from './send-page.ts'
import { defineTemplate } from './templates.ts'

/** A template that only one kind of thing has, with what it shows. */
export interface Part {
  readonly template: `/${string}.eta`
  readonly data: object
}

/** A form that acts (`post`), or leads to a page that shows what would change (`get`). */
export interface Form {
  readonly method: 'get' | 'post'
  readonly action: string
  /** `action` where it is left out. */
  readonly class?: 'panel action' | 'editor'
  /** What it sends besides what is typed. */
  readonly hidden?: Values
  readonly fields?: readonly FormField[]
  /** What its fields begin with, and what is wrong with them. */
  readonly values?: Values
  readonly errors?: Values
  /** Before the names of its fields in their ids, where a page has several forms. */
  readonly idPrefix?: string
  /** Inputs that are no `fields`. */
  readonly inputs?: Part | null
  readonly button: string
  readonly look?: 'quiet' | 'danger' | undefined
  readonly hint?: string
}

export interface Panel {
  readonly title?: string
  readonly hint?: string
  readonly form: Form
}

/** One step of a draw: what it took, what it gave, and whether that can be computed again. */
export interface ProofStep {
  readonly title: string
  /** Null where there is nothing to check. */
  readonly ok: boolean | null
  /** What was checked, and what came out. */
  readonly why: string
  /** Values, each with a link to the event that has it. */
  readonly facts: Facts
  /** Text that is hashed, to the letter. */
  readonly text?: string
  readonly table?: Table
}

type Shown<Value> = Value | null | undefined

/** A part of a page under a heading of its own, or without one. What it has is shown in this order. */
export interface Section {
  readonly title?: Shown<Words>
  /** 2 where it is left out. */
  readonly level?: 2 | 3
  readonly lead?: Shown<Words>
  /** Read out at once: why something was refused, or is wrong. */
  readonly alert?: Shown<Words>
  /** Line by line; in the alert, where there is one. */
  readonly list?: Shown<readonly Words[]>
  readonly warning?: Shown<Words>
  readonly done?: Shown<Words>
  readonly note?: Shown<Words>
  readonly empty?: Shown<Words>
  readonly text?: Shown<Words>
  readonly hint?: Shown<Words>
  readonly filters?: Shown<ShownFilters>
  readonly actions?: Shown<readonly Link[]>
  readonly facts?: Shown<Facts>
  readonly table?: Shown<Table>
  readonly proof?: Shown<readonly ProofStep[]>
  readonly part?: Shown<Part>
  readonly form?: Shown<Form>
  readonly panels?: Shown<readonly Panel[]>
}

/** A page of sections: of lists, of one thing with its facts, tables and proofs, and of what would change. */
export interface SectionsPage {
  /** The title of the window. */
  readonly title: string
  /** The first heading; the title where it is left out. */
  readonly heading?: Words
  readonly status?: number
  readonly scripts?: readonly PageScript[]
  /** The page that the menu of the catalogue marks. */
  readonly tab?: string | undefined
  /** The page that this one belongs to. */
  readonly up?: Cell | undefined
  /** Whether each section can be jumped to, by readers of screens and by its id. */
  readonly isLong?: true
  /** Whether htmx asks for a part of it again and again, which its reader can pause. */
  readonly isUpdating?: boolean | undefined
  readonly sections: readonly (Section | null)[]
}

const template = defineTemplate<{ readonly page: SectionsPage }>('/layout/page.eta')

export const sendSections = (
  request: FastifyRequest,
  reply: FastifyReply,
  { title, status = 200, scripts = [], ...page }: SectionsPage,
): Promise<FastifyReply> => {
  const sections = page.sections.filter((section) => section !== null)
  return sendPage(request, reply, template, {
    title,
    status,
    scripts: page.isUpdating === true ? ['htmx', ...scripts] : scripts,
    data: { page: { heading: title, ...page, title, sections } },
  })
}

/** What a verdict says of one of its steps; not right where it has no such step. */
export function checkedStep({ steps }: Verdict, name: string): Pick<ProofStep, 'ok' | 'why'> {
  const found = steps.find(({ step }) => step === name)
  return found === undefined ? { ok: false, why: '' } : { ok: found.ok, why: `${sentenceCase(found.why)}.` }
}

/** What was found of a draw, in a sentence; null where nothing was drawn yet. */
export const verdictSection = (
  verdict: Pick<Verdict, 'valid'> | null,
  { valid, wrong }: { readonly valid: string; readonly wrong: string },
): Section | null => (verdict === null ? null : verdict.valid ? { done: valid } : { alert: wrong })
