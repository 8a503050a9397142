// A client of /ws to look at: what it sends and receives, and how it resumes after its connection was cut.

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

const playground = find(document, '[data-playground]', HTMLElement)
const signIn = find(playground, '[data-sign-in]', HTMLFormElement)
const subscribing = find(playground, '[data-subscribe]', HTMLFormElement)
const connected = find(subscribing, '[data-connected]', HTMLButtonElement)
const cut = find(playground, '[data-cut]', HTMLButtonElement)
const resume = find(playground, '[data-resume]', HTMLButtonElement)
const state = find(playground, '[data-state]', HTMLElement)
const subscribed = find(playground, '[data-channels]', HTMLElement)
const frames = find(playground, '[data-frames]', HTMLElement)
const MAX_FRAMES = 200

/**
 * What the service sends, as far as it is read here.
 *
 * @typedef {{ t: string, ch?: string, position?: string, ledger?: string, user_id?: number,
 *   resumed?: boolean, retry?: boolean }} Received
 */

/**
 * By channel, the newest position that was received of it; empty before the first one.
 *
 * @type {Map<string, string>}
 */
const channels = new Map()
/**
 * What these positions belong to; undefined before the first `ready`.
 *
 * @type {string | undefined}
 */
let ledger
let token = ''
/** @type {WebSocket | undefined} */
let socket
let isReady = false
let number = 0

/** @param {string} text */
function showState(text) {
  state.textContent = text
  const isOpen = socket !== undefined
  cut.disabled = !isOpen
  resume.disabled = isOpen || token === ''
  connected.disabled = !isReady
}

/**
 * Adds a line to the list of frames: text alone, whatever it holds.
 *
 * @param {string} direction
 * @param {string} text
 */
function log(direction, text) {
  const line = document.createElement('li')
  const head = document.createElement('p')
  const time = document.createElement('span')
  time.className = 'hint'
  time.textContent = ` ${new Date().toISOString().slice(11, 23)} UTC`
  const what = document.createElement('strong')
  what.textContent = direction
  head.append(what, time)
  const content = document.createElement('pre')
  content.className = 'bytes'
  content.textContent = text
  line.append(head, content)
  frames.prepend(line)
  while (frames.children.length > MAX_FRAMES) frames.lastElementChild?.remove()
}

/** @param {object} frame */
const shown = (frame) => JSON.stringify(frame, null, 2)

/** @param {{ readonly t: string, readonly token?: string } & Readonly<Record<string, unknown>>} frame */
function send(frame) {
  // Cut meanwhile.
  if (socket === undefined) return
  socket.send(JSON.stringify(frame))
  log('Sent', shown(frame.token === undefined ? frame : { ...frame, token: '…' }))
}

function showChannels() {
  subscribed.replaceChildren(
    ...[...channels].map(([channel, position]) => {
      const item = document.createElement('li')
      const name = document.createElement('code')
      name.textContent = channel
      const button = document.createElement('button')
      button.type = 'button'
      button.className = 'quiet'
      button.textContent = 'Unsubscribe'
      button.setAttribute('aria-label', `Unsubscribe from ${channel}`)
      button.disabled = !isReady
      button.addEventListener('click', () => send({ t: 'unsub', i: (number += 1), ch: channel }))
      item.append(name, position === '' ? ' ' : ` at position ${position} `, button)
      return item
    }),
  )
}

/** @param {Received} frame */
function onFrame(frame) {
  const { t, ch, position } = frame
  if (t === 'ready') {
    isReady = true
    showState(`connected as user ${frame.user_id}`)
    const own = `user:${frame.user_id}`
    if (!channels.has(own)) channels.set(own, position ?? '')
    const chs = [...channels].map(([name, since]) => ({ ch: name, ...(since !== '' && { since }) }))
    // The former ledger, if any: where it is another one now, no channel is resumed.
    send({ t: 'sub', i: (number += 1), ledger: ledger ?? frame.ledger, chs })
    ledger = frame.ledger
  } else if (ch === undefined) {
    return
  } else if (t === 'subbed' || (t === 'ev' && channels.has(ch) && position !== undefined)) {
    // A replay follows its answer: the position counts from there on.
    if (t === 'ev' || !channels.has(ch) || frame.resumed === false) channels.set(ch, position ?? '')
  } else if (t === 'unsubbed' || (t === 'err' && frame.retry !== true)) {
    channels.delete(ch)
  } else return
  showChannels()
}

function connect() {
  const address = new URL('/ws', location.href)
  address.protocol = location.protocol === 'https:' ? 'wss:' : 'ws:'
  const opened = new WebSocket(address)
  socket = opened
  showState('connecting')
  opened.addEventListener('open', () => send({ t: 'auth', token }))
  opened.addEventListener('message', ({ data }) => {
    /** @type {Received} */
    const frame = JSON.parse(data)
    log('Received', shown(frame))
    onFrame(frame)
  })
  opened.addEventListener('close', ({ code }) => {
    log('Closed', `code ${code}`)
    // Another one may have been opened meanwhile.
    if (socket !== opened) return
    socket = undefined
    isReady = false
    showState(`closed with code ${code}`)
    showChannels()
  })
}

async function signInAsUser() {
  const fields = new URLSearchParams()
  for (const [name, value] of new FormData(signIn)) if (typeof value === 'string') fields.append(name, value)
  const response = await fetch(signIn.action, { method: 'POST', body: fields })
  for (const button of signIn.querySelectorAll('button')) button.disabled = false
  if (!response.ok) return showState(`signing in was refused (${response.status}); load this page again`)
  token = (await response.json()).token
  channels.clear()
  ledger = undefined
  showChannels()
  isReady = false
  socket?.close()
  connect()
}

signIn.addEventListener('submit', (event) => {
  event.preventDefault()
  signInAsUser().catch(() => showState('the service cannot be reached'))
})

subscribing.addEventListener('submit', (event) => {
  event.preventDefault()
  const channel = find(subscribing, '[name=channel]', HTMLInputElement)
  const since = find(subscribing, '[name=since]', HTMLInputElement)
  const withState = find(subscribing, '[name=state]', HTMLInputElement)
  send({
    t: 'sub',
    i: (number += 1),
    ch: channel.value,
    ...(since.value !== '' && { since: since.value, ledger }),
    ...(withState.checked && { state: true }),
  })
})

cut.addEventListener('click', () => socket?.close())
resume.addEventListener('click', connect)
find(playground, '[data-clear]', HTMLButtonElement).addEventListener('click', () => frames.replaceChildren())
playground.hidden = false
