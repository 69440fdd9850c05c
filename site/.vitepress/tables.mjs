// Tables of the pages: each cell knows its column's head, which a narrow screen shows beside it (theme/style.css); and
// a row that begins with an SQLSTATE can be linked to, by that in small letters, and is found by the search.
const SQLSTATE = /^[0-9A-Z]{5}$/

export function heads_and_rows(md) {
  md.core.ruler.push('heads_and_rows', ({ tokens }) => {
    const linked = new Set()
    let heads = []
    let column = 0
    tokens.forEach((token, at) => {
      const text = () => tokens[at + 1].content.replace(/[`*]/g, '')
      if (token.type === 'table_open') heads = []
      if (token.type === 'tr_open') column = 0
      if (token.type === 'th_open') heads.push(text())
      if (token.type !== 'td_open') return
      const head = heads[column++]
      if (head) token.attrSet('data-head', head)
      if (column !== 1 || !SQLSTATE.test(text()) || linked.has(text())) return
      linked.add(text())
      tokens[at - 1].attrSet('id', text().toLowerCase())
    })
  })
}

// The HTML of a page as the search is to read it, which takes it apart by its headings: behind each section, its rows
// that can be linked to as sections of their own.
export const rows_as_sections = (html) => html.split(/(?=<h[1-6][ >])/).map((section) => {
  const level = Number(/^<h([1-6])/.exec(section)?.[1] ?? 1) + 1
  const rows = [...section.matchAll(/<tr id="([^"]+)">\s*<td[^>]*>(.*?)<\/td>(.*?)<\/tr>/gs)]
  const sections = rows.map(([, id, name, rest]) => `<h${level}>${name} <a href="#${id}">#</a></h${level}>\n${rest}`)
  return [section, ...sections].join('\n')
}).join('')
