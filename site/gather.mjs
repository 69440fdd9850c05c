// node gather.mjs CHECKOUT PAGES: puts the pages of the site into PAGES, as they lie in the checkout, and into
// PAGES/public the files that they link to, all pictures, and the site's own. Of a directory that they link to the site
// has a page that lists it.
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

const [checkout, pages] = process.argv.slice(2)

const files_in = (directory, ending) => {
  const names = existsSync(join(checkout, directory)) ? readdirSync(join(checkout, directory)).sort() : []
  return names.filter((name) => name.endsWith(ending)).map((name) => join(directory, name))
}
const put = (file, into = '') => cpSync(join(checkout, file), join(pages, into, file))

// Where the page's links lead to in the checkout, but for anchors and other sites.
function targets(page) {
  const text = readFileSync(join(checkout, page), 'utf8')
  return [...text.matchAll(/\]\(([^)#\s]+)|^\[[^\]]+\]: *([^#\s]+)/gm)]
    .map(([, inline, below]) => inline ?? below)
    .filter((link) => !/^[a-z]+:/.test(link))
    .map((link) => normalize(join(dirname(page), decodeURIComponent(link))).replace(/\/$/, ''))
}

const listing = (directory, linked) => [`# ${directory}`, '', ...linked.map((file) =>
  `- [${file.slice(directory.length + 1)}](${file.slice(directory.length + 1)})`), ''].join('\n')

const markdown = [...files_in('', '.md'), ...files_in('docs', '.md'), ...files_in('docs/clients', '.md')]
for (const page of markdown) put(page)
for (const picture of [...files_in('docs', '.svg'), ...files_in('docs/clients', '.svg')]) {
  put(picture)
  put(picture, 'public')
}
cpSync(new URL('favicon.svg', import.meta.url).pathname, join(pages, 'public/favicon.svg'))

for (const target of new Set(markdown.flatMap(targets))) {
  const there = join(checkout, target)
  if (target.startsWith('..') || !existsSync(there) || existsSync(join(pages, target))) continue
  if (statSync(there).isFile()) {
    put(target, 'public')
    continue
  }
  const files = files_in(target, '').filter((file) => statSync(join(checkout, file)).isFile())
  for (const file of files) put(file, 'public')
  mkdirSync(join(pages, target), { recursive: true })
  writeFileSync(join(pages, target, 'index.md'), listing(target, files))
}
