// Adds events to the page as they are committed. The position of the last one is the cursor: every event after it is
// asked for once, so nothing is missed, whether the page was paused, hidden or without a network.

/**
 * @template {HTMLElement} Kind
 * @param {ParentNode} parent
 * @param {string} selector
 * @param {new () => Kind} kind
 * @returns {Kind}
 */
function find(parent, selector, kind) {
  const found = parent.querySelector(selector)
  if (!(found instanceof kind)) throw new Error(`the page has no ${selector}`)
  return found
}

const live = find(document, '[data-live]', HTMLElement)
const body = find(live, 'tbody', HTMLTableSectionElement)
const state = find(live, '[data-state]', HTMLElement)
const pause = find(live, '[data-pause]', HTMLButtonElement)
const pollAddress = live.dataset['live'] ?? ''

const POLL_MS = 1_000
/** While there is more to read at once. */
const CATCH_UP_MS = 150
const RETRY_MS = 5_000
/** The oldest rows beyond leave the page; they stay on that of events. */
const MAX_ROWS = 500

/** What positions belong to; empty before the first event. */
let ledger = live.dataset['ledger'] ?? ''
/** Everything up to here is on the page. */
let shown = Number(live.dataset['position'])
/** Everything up to here is counted, while it is paused. */
let counted = shown
let waiting = 0
let isPaused = false
/** Says that the answer to a request belongs to a state that is over. */
let round = 0

/** The session has ended: nothing more can be read. */
class SignedOut extends Error {}

/** Commits were lost: events on the page may be among them, and positions are used again. */
class LedgerWentBack extends Error {}

/** @param {string} address */
async function fetchPart(address) {
  const response = await fetch(address, { headers: { 'hx-request': 'true' } })
  if (response.status === 401) throw new SignedOut()
  if (!response.ok) throw new Error(String(response.status))
  return response
}

/**
 * @param {number} position
 * @param {boolean} onlyCount
 * @returns {Promise<{ ledger: string, position: number, head: number, count: number, rows: string }>}
 */
async function readAfter(position, onlyCount) {
  const query = new URLSearchParams({ after: String(position) })
  if (onlyCount) query.set('only', 'count')
  const join = pollAddress.includes('?') ? '&' : '?'
  return (await fetchPart(`${pollAddress}${join}${query}`)).json()
}

/** @param {string} text */
function say(text) {
  if (state.textContent !== text) state.textContent = text
}

/** @param {string} html */
function showRows(html) {
  const rows = document.createElement('template')
  // Escaped by the service, like the page itself.
  rows.innerHTML = html
  body.prepend(rows.content)
  for (const row of [...body.rows].slice(MAX_ROWS)) row.remove()
  find(live, '.table', HTMLElement).hidden = false
  find(live, '[data-empty]', HTMLElement).hidden = true
  // The layout shows times as staff chose, after each change of the page.
  document.dispatchEvent(new Event('htmx:after:swap'))
}

function showPosition() {
  find(live, '[data-shown]', HTMLElement).textContent = shown.toLocaleString('en')
  const newer = find(live, '[data-newer]', HTMLAnchorElement)
  const address = new URL(newer.href)
  address.searchParams.set('after', String(shown))
  newer.href = address.href
  pause.textContent = isPaused ? `Resume (${waiting.toLocaleString('en')} new)` : 'Pause'
}

async function poll() {
  const mine = round
  const { position, head, count, rows, ...answer } = await readAfter(isPaused ? counted : shown, isPaused)
  if (ledger !== '' && answer.ledger !== ledger) throw new LedgerWentBack()
  ledger = answer.ledger
  if (mine !== round) return CATCH_UP_MS
  // Read where the ledger has not got so far yet: going back would show events twice.
  if (position < (isPaused ? counted : shown)) return POLL_MS
  if (isPaused) {
    counted = position
    waiting += count
  } else {
    shown = position
    if (rows !== '') showRows(rows)
    const behind = head - position
    say(behind > 0 ? `${behind.toLocaleString('en')} events behind` : 'Live')
  }
  showPosition()
  return position < head ? CATCH_UP_MS : POLL_MS
}

async function pollForEver() {
  for (;;) {
    let wait = POLL_MS
    try {
      // A hidden page continues where it was once it is seen again.
      if (!document.hidden) wait = await poll()
    } catch (error) {
      if (error instanceof SignedOut) return say('Your session has ended. Load this page again to sign in.')
      if (error instanceof LedgerWentBack)
        return say('The ledger went back: events on this page may be lost. Load it again.')
      say('The service cannot be reached. Trying again …')
      wait = RETRY_MS
    }
    await new Promise((resolve) => setTimeout(resolve, wait))
  }
}

pause.addEventListener('click', () => {
  isPaused = !isPaused
  round += 1
  waiting = 0
  counted = shown
  say(isPaused ? 'Paused' : 'Live')
  showPosition()
})

// Someone who pauses the page wants nothing of it to change.
find(document, '[data-sockets]', HTMLElement).addEventListener('htmx:before:request', (event) => {
  if (isPaused || document.hidden) event.preventDefault()
})

pause.hidden = false
say('Live')
void pollForEver()
