// Which pages the site has, in which order, and what they are called. What is not named here comes last.
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { basename, join } from 'node:path'

// The order, by groups. A name that ends with / is all pages of that directory that no other line names.
const ORDER = [
  ['snowid', ['README.md', 'docs/tutorial.md', 'docs/first-day.md', 'docs/install.md', 'docs/guarantees.md',
    'docs/reference.md', 'docs/layouts.md', 'docs/json.md', 'docs/counters.md', 'docs/read-in-order.md', 'docs/node-numbers.md',
    'docs/citus.md', 'docs/moving-shards.md', 'docs/partitions.md', 'docs/portable.md']],
  ['Running it', ['docs/runbook.md', 'docs/replication.md', 'docs/monitoring.md', 'docs/converting.md']],
  ['Clients', ['docs/clients/README.md', 'docs/clients/']],
  ['Project', ['SUPPORT.md', 'SECURITY.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'CODE_OF_CONDUCT.md', 'docs/design.md',
    'docs/testing.md']],
  ['More', ['./', 'docs/']],
]

// Groups that are folded until one of their pages is open.
const FOLDED = new Set(['Clients'])

// Pages that the menu calls otherwise than by their first headings.
const NAMES = new Map([['README.md', 'Overview'], ['docs/clients/README.md', 'Overview'],
  ['docs/design.md', 'Design']])

const markdown_in = (root, directory) =>
  readdirSync(join(root, directory)).filter((name) => name.endsWith('.md')).sort()
    .map((name) => join(directory, name))

// A page's first heading, without its marks.
const title_of = (root, page) =>
  /^# +(.*)$/m.exec(readFileSync(join(root, page), 'utf8'))?.[1].replace(/[`*]/g, '') ?? basename(page, '.md')

// Where a page comes to be. A README is what a directory opens with, as on a git host.
export const target_of = (page) => page.replace(/(^|\/)README\.md$/, '$1index.md')

// The sidebar, of the pages that are below `root`.
export function sidebar(root) {
  const named = new Set(ORDER.flatMap(([, pages]) => pages))
  const item = (page) => ({
    text: NAMES.get(page) ?? title_of(root, page),
    link: '/' + target_of(page).replace(/\.md$/, '').replace(/(^|\/)index$/, '$1'),
  })
  return ORDER.map(([text, pages]) => ({
    text,
    ...(FOLDED.has(text) ? { collapsed: true } : {}),
    items: pages
      .flatMap((page) => {
        if (!existsSync(join(root, page))) return []
        return page.endsWith('/') ? markdown_in(root, page).filter((found) => !named.has(found)) : [page]
      })
      .map(item),
  })).filter((group) => group.items.length > 0)
}
