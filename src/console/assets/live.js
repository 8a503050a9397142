// Adds events to the page as they are committed. The position of the last one is the cursor: every event after it is
// asked for once, so nothing is missed, whether the page was paused, hidden or without a network.

const live = document.querySelector('[data-live]')
const body = live.querySelector('tbody')
const state = live.querySelector('[data-state]')
const pause = live.querySelector('[data-pause]')

const POLL_MS = 1_000
/** While there is more to read at once. */
const CATCH_UP_MS = 150
const RETRY_MS = 5_000
const SOCKETS_MS = 10_000
/** The oldest rows beyond leave the page; they stay on that of events. */
const MAX_ROWS = 500

/** Everything up to here is on the page. */
let shown = Number(live.dataset.position)
/** Everything up to here is counted, while it is paused. */
let counted = shown
let waiting = 0
let isPaused = false
/** Says that the answer to a request belongs to a state that is over. */
let round = 0

/** The session has ended: nothing more can be read. */
class SignedOut extends Error {}

async function fetchPart(address) {
  const response = await fetch(address, { headers: { 'hx-request': 'true' } })
  if (response.status === 401) throw new SignedOut()
  if (!response.ok) throw new Error(String(response.status))
  return response
}

async function readAfter(position, only) {
  const query = new URLSearchParams({ after: position, ...(only && { only }) })
  const join = live.dataset.live.includes('?') ? '&' : '?'
  return (await fetchPart(`${live.dataset.live}${join}${query}`)).json()
}

function say(text) {
  if (state.textContent !== text) state.textContent = text
}

function showRows(html) {
  const rows = document.createElement('template')
  // Escaped by the service, like the page itself.
  rows.innerHTML = html
  body.prepend(rows.content)
  while (body.rows.length > MAX_ROWS) body.rows[MAX_ROWS].remove()
  live.querySelector('.table').hidden = false
  live.querySelector('[data-empty]').hidden = true
  // The frame shows times as staff chose, after each change of the page.
  document.dispatchEvent(new Event('htmx:after:swap'))
}

function showPosition() {
  live.querySelector('[data-shown]').textContent = shown.toLocaleString('en')
  const newer = live.querySelector('[data-newer]')
  const address = new URL(newer.href)
  address.searchParams.set('after', shown)
  newer.href = address
  pause.textContent = isPaused ? `Resume (${waiting.toLocaleString('en')} new)` : 'Pause'
}

async function poll() {
  const mine = round
  const { position, head, count, rows } = await readAfter(isPaused ? counted : shown, isPaused ? 'count' : undefined)
  if (mine !== round) return CATCH_UP_MS
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
      // A hidden page goes on where it was once it is seen again.
      if (!document.hidden) wait = await poll()
    } catch (error) {
      if (error instanceof SignedOut) return say('Your session has ended. Load this page again to sign in.')
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

async function showSockets() {
  if (document.hidden) return
  try {
    document.querySelector('[data-sockets]').innerHTML = await (await fetchPart('/console/live/sockets')).text()
  } catch {
    // The events say what is wrong.
  }
}

setInterval(() => void showSockets(), SOCKETS_MS)

pause.hidden = false
say('Live')
void pollForEver()
