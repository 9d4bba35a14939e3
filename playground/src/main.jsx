// The entry: puts the playground on the page.
import { createRoot } from 'react-dom/client';
import 'graphiql/style.css';
import './theme.css';
import './playground.css';
import './session/session.css';
import { App } from './App.jsx';
import { prepareFirstVisit } from './tabs.js';

prepareFirstVisit();
createRoot(document.getElementById('root')).render(<App />);
