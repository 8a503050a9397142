import { isJson, type Json } from '../document-schemas.ts'
import { escapeHtml, formatParagraphs, htmlPage } from './html-page.ts'

/** The AsyncAPI document as a page for people, without scripts: what is sent on each channel, with schemas and examples. */
export function socketsPage(document: Json): string {
  const { channels, components } = document
  const parts = isJson(components) ? components : {}
  const messages = isJson(parts['messages']) ? parts['messages'] : {}
  const sections = entriesOf(channels).map(([, channel]) => channelSection(channel, messages))
  const closeCodes = entriesOf(channels).flatMap(([, channel]) => Object.entries(childOf(channel, 'x-close-codes')))
  return htmlPage(
    'Live economy, realtime',
    `<h1>${text(childOf(document, 'info')['title'])}</h1>
<p><a href="/docs">The HTTP interface</a> · <a href="/docs/codes">Codes</a> · <a href="/docs/asyncapi.json">This as an AsyncAPI document</a></p>
${paragraphs(childOf(document, 'info')['description'])}
${entriesOf(document['servers'])
  .map(([, server]) => serverSection(server))
  .join('\n')}
${sections.join('\n')}
<h2 id="close-codes">Close codes</h2>
<table>
<tbody>
${closeCodes.map(([code, meaning]) => `<tr><th>${text(code)}</th><td>${text(meaning)}</td></tr>`).join('\n')}
</tbody>
</table>
<h2>Schemas</h2>
${entriesOf(parts['schemas'])
  .map(([name, schema]) => details(name, json(schema), `schema-${name}`))
  .join('\n')}`,
  )
}

const serverSection = (server: Json): string =>
  `<p>Server: <code>${text(server['protocol'])}://${text(server['host'])}${text(server['pathname'])}</code>. ${text(server['description'])}.</p>`

function channelSection(channel: Json, messages: Json): string {
  const shown = entriesOf(channel['messages']).map(([id]) => messageArticle(id, childOf(messages, id)))
  return `<h2><code>${text(channel['address'])}</code></h2>\n${paragraphs(channel['description'])}\n${shown.join('\n')}`
}

function messageArticle(id: string, message: Json): string {
  const examples = Array.isArray(message['examples']) ? message['examples'].filter(isJson) : []
  return `<h3 id="${text(id)}"><code>${text(message['name'])}</code></h3>
<p>${text(message['summary'])}</p>
${examples.map(({ payload }) => `<pre>${text(JSON.stringify(payload))}</pre>`).join('\n')}
${details('schema', json(message['payload']))}`
}

const details = (summary: string, body: string, id?: string): string =>
  `<details${id === undefined ? '' : ` id="${text(id)}"`}><summary>${text(summary)}</summary><pre>${body}</pre></details>`

/** As JSON, with references as links to the schemas of the page. */
const json = (value: unknown): string =>
  text(JSON.stringify(value, null, 2)).replaceAll(
    /#\/components\/schemas\/(\w+)/g,
    (reference, name: string) => `<a href="#schema-${name}">${reference}</a>`,
  )

const paragraphs = (value: unknown): string => formatParagraphs(typeof value === 'string' ? value : '')

const text = (value: unknown): string => escapeHtml(typeof value === 'string' ? value : '')

const childOf = (parent: unknown, name: string): Json => {
  const child = isJson(parent) ? parent[name] : undefined
  return isJson(child) ? child : {}
}

const entriesOf = (parent: unknown): readonly (readonly [string, Json])[] =>
  Object.entries(isJson(parent) ? parent : {}).flatMap(([name, child]) =>
    isJson(child) ? [[name, child] as const] : [],
  )
