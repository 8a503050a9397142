// Draws balances over time. The table under each chart has the same values.

const TIMES_KEY = 'console-times'
const HEIGHT = 260
const FONT = '12px system-ui, sans-serif'

const isLocal = () => localStorage.getItem(TIMES_KEY) === 'local'
/** @param {string} name */
const token = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim()

/**
 * Wide enough for the longest label.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {readonly string[]} texts
 */
function widthOf(context, texts) {
  context.save()
  context.font = FONT
  const width = Math.max(0, ...texts.map((text) => context.measureText(text).width))
  context.restore()
  return Math.ceil(width) + 20
}

/** @param {number} number */
const two = (number) => String(number).padStart(2, '0')

/**
 * The time of each mark, and below it the day where that begins.
 *
 * @param {readonly number[]} splits
 * @param {number} step
 */
function timeLabels(splits, step) {
  let last = ''
  return splits.map((seconds) => {
    const date = new Date(seconds * 1_000)
    const local = new Date(date.getTime() - (isLocal() ? date.getTimezoneOffset() * 60_000 : 0))
    const day = local.toISOString().slice(0, 10)
    const isNew = day !== last
    last = day
    if (step >= 86_400) return day
    const time = `${two(local.getUTCHours())}:${two(local.getUTCMinutes())}${step < 60 ? `:${two(local.getUTCSeconds())}` : ''}`
    return isNew ? `${time}\n${day}` : time
  })
}

/** @param {HTMLElement} element */
function draw(element) {
  /** @type {{ label: string, decimals: number, times: number[], values: number[] }} */
  const { label, decimals, times, values } = JSON.parse(element.dataset['chart'] ?? '')
  const digits = { minimumFractionDigits: decimals, maximumFractionDigits: decimals }
  /** @param {number} value */
  const format = (value) => value.toLocaleString('en', digits).replace('-', '\u2212')
  const [ink, line, accent] = [token('--muted'), token('--line'), token('--accent')]
  const axis = { stroke: ink, font: FONT, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 } }
  const { stepped } = uPlot.paths
  // While nothing is pointed at, the legend has the last balance.
  /** @param {uPlot} chart */
  const showLast = (chart) => chart.setLegend({ idx: times.length - 1 })
  /** @type {uPlot.Options} */
  const options = {
    width: element.clientWidth,
    height: HEIGHT,
    cursor: { y: false },
    hooks: { ready: [showLast], setCursor: [(chart) => chart.cursor.idx === null && showLast(chart)] },
    ...(isLocal()
      ? {}
      : { tzDate: (/** @type {number} */ seconds) => uPlot.tzDate(new Date(seconds * 1_000), 'Etc/UTC') }),
    series: [
      { label: isLocal() ? 'Time' : 'Time (UTC)', value: '{YYYY}-{MM}-{DD} {HH}:{mm}:{ss}' },
      {
        label,
        stroke: accent,
        fill: `color-mix(in srgb, ${accent} 12%, transparent)`,
        width: 2,
        ...(stepped && { paths: stepped({ align: 1 }) }),
        points: { show: times.length <= 50 },
        value: (_chart, value) => (value === null ? '–' : format(value)),
      },
    ],
    axes: [
      { ...axis, space: 80, values: (_chart, splits, _axis, _space, step) => timeLabels(splits, step) },
      {
        ...axis,
        values: (_chart, splits) => splits.map((value) => value.toLocaleString('en').replace('-', '\u2212')),
        size: (chart, texts) => (texts === null ? 60 : widthOf(chart.ctx, texts)),
      },
    ],
  }
  return new uPlot(options, [times, values], element)
}

for (const element of document.querySelectorAll('[data-chart]')) {
  if (!(element instanceof HTMLElement)) continue
  let chart = draw(element)
  new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height: HEIGHT })).observe(element)
  const drawAgain = () => {
    chart.destroy()
    chart = draw(element)
  }
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', drawAgain)
  document.querySelector('[data-times]')?.addEventListener('click', drawAgain)
}
