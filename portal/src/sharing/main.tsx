import '../core/trusted-types.ts';
import '../ui/styles.ts';
import './sharing.css';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';

const root = document.getElementById('root');
if (root === null) throw new Error('The page has no element for the application.');
createRoot(root).render(<App />);
