// A client of /ws to look at: what it sends and receives, and how it resumes after its connection was cut.

const playground = document.querySelector('[data-playground]')
const find = (name) => playground.querySelector(`[data-${name}]`)
const signIn = find('sign-in')
const subscribing = find('subscribe')
const MAX_FRAMES = 200

/** By channel, the newest position that was received of it; empty before the first one. */
const channels = new Map()
let token = ''
let socket
let isReady = false
let number = 0

function showState(text) {
  find('state').textContent = text
  const isOpen = socket !== undefined
  find('cut').disabled = !isOpen
  find('resume').disabled = isOpen || token === ''
  subscribing.querySelector('[data-connected]').disabled = !isReady
}

/** Adds a line to the list of frames: text alone, whatever it holds. */
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
  find('frames').prepend(line)
  while (find('frames').children.length > MAX_FRAMES) find('frames').lastElementChild.remove()
}

const shown = (frame) => JSON.stringify(frame, null, 2)

function send(frame) {
  socket.send(JSON.stringify(frame))
  log('Sent', shown(frame.token === undefined ? frame : { ...frame, token: '…' }))
}

function showChannels() {
  find('channels').replaceChildren(
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

function onFrame(frame) {
  const { t, ch, position } = frame
  if (t === 'ready') {
    isReady = true
    showState(`connected as user ${frame.user_id}`)
    const own = `user:${frame.user_id}`
    if (!channels.has(own)) channels.set(own, position)
    const chs = [...channels].map(([name, since]) => ({ ch: name, ...(since !== '' && { since }) }))
    if (chs.length > 0) send({ t: 'sub', i: (number += 1), chs })
  } else if (t === 'subbed' || (t === 'ev' && channels.has(ch) && position !== undefined)) {
    // A replay follows its answer: the position counts from there on.
    if (t === 'ev' || !channels.has(ch) || frame.resumed === false) channels.set(ch, position)
  } else if (t === 'unsubbed' || (t === 'err' && ch !== undefined && frame.retry !== true)) {
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
  const response = await fetch(signIn.action, { method: 'POST', body: new URLSearchParams(new FormData(signIn)) })
  for (const button of signIn.querySelectorAll('button')) button.disabled = false
  if (!response.ok) return showState(`signing in was refused (${response.status}); load this page again`)
  token = (await response.json()).token
  channels.clear()
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
  const { channel, since, state } = subscribing.elements
  send({
    t: 'sub',
    i: (number += 1),
    ch: channel.value,
    ...(since.value !== '' && { since: since.value }),
    ...(state.checked && { state: true }),
  })
})

find('cut').addEventListener('click', () => socket?.close())
find('resume').addEventListener('click', connect)
find('clear').addEventListener('click', () => find('frames').replaceChildren())
playground.hidden = false
