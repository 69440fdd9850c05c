// node look.mjs SITE: goes through the site in a browser (Chromium, as the system has it), as a reader does: light and
// dark, narrow and wide, by the menus, by links and by the search. Nothing is served: the browser's requests are
// answered from the directory, and a page that asks for anything else has failed. Nothing may be cut off, or scroll
// sideways. VERSION is the one that the site is to show. The last line is "N passed, M failed".
// With PICTURES, a directory, it leaves there what it saw. With ONLY, paths such as "/ /docs/design.html", it looks at
// these pages alone, and then goes through all the rest.
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { chromium } from 'playwright-core'

const [site] = process.argv.slice(2)
const ORIGIN = 'http://snowid.invalid'
const WIDE = { width: 1280, height: 900 }
const PATIENCE = 180_000 // milliseconds, for whatever a slow machine takes long for
const NARROW = { width: 390, height: 844 }
const VERSION = process.env.VERSION || 'that is known'
const ONLY = (process.env.ONLY || '').split(' ').filter(Boolean)
const FUNCTIONS = ['snowid_next_batch', 'snowid_in_range', 'objectid_next', 'snowid_segment_next']

// What people look for, and where the first hit leads.
const SOUGHT = [
  ['docker', '/docs/install.html', 'docker-and-podman'],
  ['quick start', '/docs/install.html', 'quick-start'],
  ['performance', '/', 'performance'],
  ['benchmark', '/', 'performance'],
  ['tutorial', '/docs/tutorial.html', 'tutorial'],
  ['quickstart', '/docs/tutorial.html', 'tutorial'],
  ['failover', '/docs/replication.html', 'failover'],
  ['ERROR:  SN001: clock is 7012 ms behind the next ID of shard 3 of layout "discord"', '/docs/runbook.html',
    'the-clock-went-back'],
  ['SN001', '/docs/reference.html', 'sn001'],
]

let passed = 0
let failed = 0
function check(what, problems) {
  if (problems.length === 0) return void passed++
  failed++
  console.log([`FAIL: ${what}`, ...problems].join('\n  '))
}
const unless = (right, problem) => (right ? [] : [problem])

// A page in a window of this size, whose reader prefers these colours. `problems` gives what it met since it was asked.
async function open(browser, viewport, colorScheme) {
  const page = await browser.newPage({ viewport, colorScheme })
  page.setDefaultTimeout(PATIENCE)
  let problems = []
  await page.route('**/*', (route) => {
    const url = new URL(route.request().url())
    const file = join(site, decodeURIComponent(url.pathname).replace(/\/$/, '/index.html'))
    if (url.origin === ORIGIN && existsSync(file) && statSync(file).isFile()) return route.fulfill({ path: file })
    problems.push(`asked for ${url}`)
    return route.abort()
  })
  page.on('console', (message) => message.type() === 'error' && problems.push(message.text()))
  page.on('pageerror', (error) => problems.push(String(error)))
  page.problems = () => problems.splice(0)
  page.look_at = (path) => page.goto(ORIGIN + path, { waitUntil: 'networkidle' })
  return page
}

// How bright what is on the screen there is on average, from 0 to 1.
async function brightness(page, locator) {
  const png = (await locator.screenshot()).toString('base64')
  return page.evaluate(async (data) => {
    const picture = await createImageBitmap(await (await fetch(`data:image/png;base64,${data}`)).blob())
    const context = new OffscreenCanvas(picture.width, picture.height).getContext('2d')
    context.drawImage(picture, 0, 0)
    const { data: bytes } = context.getImageData(0, 0, picture.width, picture.height)
    let sum = 0
    for (let at = 0; at < bytes.length; at += 4) sum += bytes[at] + bytes[at + 1] + bytes[at + 2]
    return sum / (bytes.length / 4) / (3 * 255)
  }, png)
}

// What is wrong with the colours of the page, and of the pictures in it, where it is to be dark, or light.
async function wrong_colours(page, dark) {
  const wrong = async (what, locator) => {
    const value = await brightness(page, locator)
    return unless(dark ? value < 0.35 : value > 0.65, `${what} has a brightness of ${value.toFixed(2)}`)
  }
  const problems = await wrong('the page', page.locator('.VPDoc .content-container').first())
  for (const picture of await page.locator('.vp-doc img').all()) {
    problems.push(...await wrong(await picture.getAttribute('src'), picture))
  }
  return problems
}

// The pictures, blocks of code and tables of the page that are wider than their place, and what of them is: a cell, or
// what they lie in.
const cut_off = (page) => page.evaluate(() => {
  const right = document.querySelector('.vp-doc').getBoundingClientRect().right
  const wide = (one) => (one.clientWidth > 0 ? Math.max(0, one.scrollWidth - one.clientWidth) : 0)
  const around = (one) => (one.matches('.vp-doc, .vp-doc > div') ? [] : [one, ...around(one.parentElement)])
  return [...document.querySelectorAll('.vp-doc :is(img, svg, pre, table)')].flatMap((one) => {
    const all = [...around(one), ...one.querySelectorAll('th, td, code')]
    const over = Math.max(...all.map(wide), Math.round(one.getBoundingClientRect().right - right))
    const begin = (one.innerText || one.src || '').slice(0, 60)
    return over > 0 ? [`cut off, ${over} pixels: ${one.localName} ${begin}`] : []
  })
})

const picture = async (page, name) => {
  if (process.env.PICTURES) await page.screenshot({ path: join(process.env.PICTURES, `${name}.png`) })
}

// The pages that the menu leads to, in order.
const menu_of = (page) =>
  page.locator('.VPSidebar a').evaluateAll((links) => links.map((link) => link.getAttribute('href')))

async function look_at_pages(browser) {
  const start = await open(browser, WIDE, 'light')
  await start.look_at('/')
  const pages = await menu_of(start)
  const there = readdirSync(site, { recursive: true }).filter((file) => file.endsWith('.html'))
  check('the menu begins with the README, the tutorial, the first day, and Install',
    unless(`${pages.slice(0, 4)}` === '/,/docs/tutorial.html,/docs/first-day.html,/docs/install.html', `it has ${pages}`))
  const runbook = await start.locator('.VPSidebar a[href="/docs/runbook.html"]').innerText()
  check('the menu calls the runbook so', unless(runbook === 'Runbook', `it says ${runbook}`))
  const client = start.locator('.VPSidebar a[href="/docs/clients/pgx.html"]')
  check('clients are folded', unless(!await client.isVisible(), 'their pages are in sight'))
  await start.look_at('/docs/clients/')
  check('and not where one of them is open',
    await client.waitFor().then(() => [], () => ['their pages are not in sight']))
  const icon = await start.locator('link[rel=icon]').getAttribute('href')
  const drawn = await start.evaluate(async (href) => {
    const image = Object.assign(new Image(), { src: href })
    await image.decode().catch(() => {})
    return image.naturalWidth
  }, icon)
  check('there is a favicon', [...unless(drawn > 0, `${icon} is no picture`), ...start.problems()])
  await start.close()
  check('the menu has all pages of docs', there.filter((file) => file.startsWith('docs/'))
    .map((file) => `/${file.replace(/index\.html$/, '')}`).filter((file) => !pages.includes(file))
    .map((file) => `not ${file}`))

  for (const [colours, width] of [['light', WIDE], ['dark', WIDE], ['light', NARROW], ['dark', NARROW]]) {
    const page = await open(browser, width, colours)
    for (const path of pages.filter((one) => ONLY.length === 0 || ONLY.includes(one))) {
      const name = `${path}, ${colours}, ${width.width} wide`
      await page.look_at(path)
      const heads = await page.locator('.vp-doc h2').count()
      const contents = page.locator('.VPDocAsideOutline a.outline-link')
      const overhang = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
      const pictures = await page.locator('.vp-doc img').evaluateAll((images) =>
        images.filter((image) => image.naturalWidth === 0).map((image) => `no picture: ${image.src}`))
      check(name, [
        ...unless(await page.locator('.vp-doc h1').count() === 1, 'not one title'),
        ...unless(width !== WIDE || heads === 0 || (await contents.count() >= heads && await contents.first().isVisible()),
          'no table of contents beside it'),
        ...unless(await page.locator('.vp-doc code:empty').count() === 0, 'code with nothing in it'),
        ...unless(overhang <= 0, `${overhang} pixels too wide`),
        ...unless((await page.locator('.VPNavBarTitle').innerText()).split(/\s+/).includes(VERSION), 'no version'),
        ...await cut_off(page), ...pictures, ...await wrong_colours(page, colours === 'dark'), ...page.problems(),
      ])
      await picture(page, `${path.replaceAll('/', '_')}-${colours}-${width.width}`)
    }
    await page.close()
  }
}

// What was clicked leads to this page, whose title begins so: the address changes before the page does.
async function arrive(page, path, title) {
  await page.waitForURL((url) => url.pathname === path)
  await page.locator('.vp-doc h1').filter({ hasText: title }).waitFor()
}

// The problems that are left when what fades has faded.
async function settled(problems_of) {
  for (let tries = 0; ; tries++) {
    const problems = await problems_of()
    if (problems.length === 0 || tries === 20) return problems
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

async function switch_colours(browser) {
  const page = await open(browser, WIDE, 'light')
  await page.look_at('/')
  await page.locator('.VPNavBarAppearance .VPSwitchAppearance').click()
  check('the switch makes it dark, pictures too', await settled(() => wrong_colours(page, true)))
  await page.look_at('/docs/design.html')
  check('the next page is dark, too', [...await wrong_colours(page, true), ...page.problems()])
  await page.close()
}

async function use_menu(browser) {
  const page = await open(browser, NARROW, 'light')
  await page.look_at('/')
  await page.locator('.VPLocalNav .menu').click()
  await page.locator('.VPSidebar a[href="/docs/design.html"]').click()
  await arrive(page, '/docs/design.html', 'The design')
  check('on a narrow screen the menu opens, and leads to a page', page.problems())
  await page.close()
}

async function follow_links(browser) {
  const page = await open(browser, WIDE, 'light')
  await page.look_at('/docs/design.html')
  const link = page.locator('.vp-doc a[href^="#"]:not(.header-anchor)').last()
  const id = decodeURIComponent((await link.getAttribute('href')).slice(1))
  await link.click()
  await page.waitForFunction((at) => Math.abs(document.getElementById(at).getBoundingClientRect().top) < innerHeight / 2, id)
  check('a link within a page leads to its heading', page.problems())
  await page.locator('.vp-doc a[href$="CONTRIBUTING.html"]').first().click()
  await arrive(page, '/CONTRIBUTING.html', 'Contributing')
  await page.locator('.vp-doc a[href$="/"], .vp-doc a[href$="../index.html"], .vp-doc a[href="./"]').first().click()
  await arrive(page, '/', 'snowid')
  check('links lead from page to page, and to the README', page.problems())
  await page.locator('.vp-doc p > a > img').first().click()
  await page.waitForURL((url) => url.pathname.endsWith('.svg'))
  check('a picture leads to its file', page.problems())
  await page.close()
}

// Types a query, and gives the hits, each with its address and the title of its page.
async function hits_of(page, query) {
  await page.locator('#local-search button').first().click()
  await page.locator('.VPLocalSearchBox input').fill(query)
  await page.waitForFunction(() => document.querySelector('.VPLocalSearchBox .result, .VPLocalSearchBox .no-results'))
  return page.locator('.VPLocalSearchBox a.result').evaluateAll((links) =>
    links.map((link) => ({ href: link.getAttribute('href'), title: link.querySelector('.title').innerText })))
}

async function use_search(browser) {
  const page = await open(browser, WIDE, 'light')
  for (const name of [...FUNCTIONS, 'ceiling', 'next_batch', 'uuidv7']) {
    await page.look_at('/')
    const hits = await hits_of(page, name)
    await picture(page, `search-${name}`)
    if (hits.length === 0) {
      check(`the search finds ${name}`, ['no hit'])
      continue
    }
    await page.locator('.VPLocalSearchBox a.result').first().click()
    await page.waitForSelector('.VPLocalSearchBox', { state: 'detached' })
    await arrive(page, hits[0].href.split('#')[0], hits[0].title)
    const text = await page.locator('.vp-doc').innerText()
    check(`the search finds ${name}`, [
      ...unless(text.includes(name), `its first hit, ${hits[0].href}, does not have it`), ...page.problems()])
  }
  for (const [query, page_of, id] of SOUGHT) {
    await page.look_at('/docs/testing.html')
    const [hit] = await hits_of(page, query)
    if (hit?.href !== `${page_of}#${id}`) {
      check(`${query} is found where it is told of`, [`first comes ${hit?.href}`])
      continue
    }
    await page.locator('.VPLocalSearchBox a.result').first().click()
    await page.waitForURL((url) => url.pathname === page_of)
    check(`${query} is found where it is told of`, await settled(() => page.evaluate((at) => {
      const box = document.getElementById(at)?.getBoundingClientRect()
      return box && box.top >= 0 && box.top < innerHeight / 2 ? [] : [`${at} is not in sight: ${box?.top}`]
    }, id)))
  }
  await page.look_at('/')
  const hits = await hits_of(page, 'xyzzy')
  check('the search finds nothing where nothing is', hits.map(({ href }) => href))
  await page.close()
}

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM || execFileSync('sh', ['-c', 'command -v chromium'], { encoding: 'utf8' }).trim(),
  args: ['--no-sandbox', '--disable-gpu'],
})
try {
  for (const part of [look_at_pages, switch_colours, use_menu, follow_links, use_search]) {
    await part(browser).catch((error) => check(part.name, [String(error)]))
  }
} finally {
  await browser.close()
}
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed > 0 || passed === 0 ? 1 : 0
