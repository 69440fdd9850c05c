// VitePress' own theme, with what style.css says on top of it.
import theme from 'vitepress/theme'
import './style.css'

export default theme
