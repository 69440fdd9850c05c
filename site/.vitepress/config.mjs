// The site that `make docs` makes of the pages, with VitePress. gather.mjs has put the pages into
// `pages`, as they lie in the checkout, and files that they link to into `pages/public`.
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { slug } from 'github-slugger'
import { broken_links } from './links.mjs'
import { sidebar, target_of } from './pages.mjs'
import { heads_and_rows, rows_as_sections } from './tables.mjs'

const PAGES = new URL('../pages', import.meta.url).pathname

// Links are written for the checkout. Those to a README, or to a directory, lead to the page that it has become;
// those to a file that is no page lead to that file.
function links_of_the_checkout(md) {
  md.core.ruler.push('links_of_the_checkout', (state) => {
    for (const token of state.tokens.flatMap(({ children }) => children ?? [])) {
      const href = token.type === 'link_open' ? token.attrGet('href') : null
      if (!href || /^([a-z]+:|#)/.test(href)) continue
      const [path, fragment = ''] = href.split(/(?=#)/)
      const target = join(dirname(state.env.relativePath), path)
      if (existsSync(join(PAGES, target, 'index.md'))) token.attrSet('href', join(path, 'index.md'))
      else if (existsSync(join(PAGES, 'public', target))) token.attrSet('target', '_self')
      else token.attrSet('href', target_of(path) + fragment)
    }
  })
}

// Double braces are what they are, in text and in code, and not for Vue to evaluate.
function braces_are_text(md) {
  md.core.ruler.push('braces_are_text', (state) => {
    for (const token of state.tokens.flatMap(({ children }) => children ?? [])) {
      if (token.type === 'code_inline') token.attrSet('v-pre', '')
    }
  })
  md.renderer.rules.text = (tokens, at) =>
    md.utils.escapeHtml(tokens[at].content).replace(/\{\{|\}\}/g, '<span v-pre>$&</span>')
}

// A picture leads to its file.
function pictures_lead_to_themselves(md) {
  const image = md.renderer.rules.image
  md.renderer.rules.image = (tokens, at, options, env, self) => {
    const href = md.utils.escapeHtml(tokens[at].attrGet('src'))
    return `<a href="${href}" target="_self">${image(tokens, at, options, env, self)}</a>`
  }
}

const BASE = process.env.BASE || '/'

export default {
  title: 'snowid',
  description: '64-bit, time-ordered IDs for PostgreSQL that never repeat',
  lang: 'en',
  base: BASE,
  head: [['link', { rel: 'icon', type: 'image/svg+xml', href: `${BASE}favicon.svg` }]],
  srcDir: 'pages',
  outDir: 'out',
  rewrites: target_of,
  metaChunk: true,
  // Pictures stay files.
  vite: { build: { assetsInlineLimit: 0 } },
  markdown: {
    // Headings are called as a git host calls them, and braces in text mean nothing.
    anchor: { slugify: slug },
    attrs: { disable: true },
    image: { lazyLoading: false },
    config: (md) => md.use(links_of_the_checkout).use(braces_are_text)
      .use(pictures_lead_to_themselves).use(heads_and_rows),
  },
  themeConfig: {
    siteTitle: `snowid <small>${process.env.VERSION || ''}</small>`,
    sidebar: sidebar(PAGES),
    socialLinks: [{ icon: 'git', link: process.env.REPOSITORY || BASE, ariaLabel: 'Repository' }],
    outline: { level: [2, 3], label: 'On this page' },
    search: {
      provider: 'local',
      options: {
        _render: (text, env, md) => rows_as_sections(md.render(text, env)),
        miniSearch: {
          // Names are found by their beginning (snowid_next) and by that of any part (next_batch, batch).
          options: {
            tokenize: (text) => text.split(/[^\p{L}\p{N}_]+/u)
              .flatMap((word) => word.split('_').map((_, nth, parts) => parts.slice(nth).join('_'))),
          },
          searchOptions: {
            // A pasted message has numbers and names of its own, and its severity.
            tokenize: (text) => (text.length < 40 ? text
              : text.replace(/"[^"]*"|\b[\d:.-]+\b|\b(ERROR|FATAL|PANIC|WARNING|LOG|DETAIL|HINT):/g, ' ').trim())
              .split(/[^\p{L}\p{N}_]+/u),
            combineWith: 'AND',
          },
        },
      },
    },
  },
  buildEnd({ outDir, site }) {
    const broken = broken_links(outDir, site.base)
    if (broken.length > 0) throw new Error(['Links that lead nowhere:', ...broken].join('\n'))
  },
}
