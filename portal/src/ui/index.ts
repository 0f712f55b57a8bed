/** What screens are made of. */
export { Chart, type Series } from './charts.tsx';
export { Confirm } from './confirm.tsx';
export { CopyId, copyText, middleCut } from './copy.tsx';
export { Dialog } from './dialog.tsx';
export { Empty } from './empty.tsx';
export { Facts } from './facts.tsx';
export { ChoiceFilter, Filters, TextFilter } from './filters.tsx';
export { Icon, type IconName } from './icons.tsx';
export { Link } from './link.tsx';
export { Menu, MenuItem } from './menu.tsx';
export { ManagedBy, Notice, PageHeader, SidePanel, State, WithPanel } from './page.tsx';
export { ProblemAlert } from './problem-alert.tsx';
export { Progress } from './progress.tsx';
export { CodeBlock, curl, ShowAs } from './show-as.tsx';
export { TabbedPage } from './tabbed-page.tsx';
export { type Column, DataTable } from './table.tsx';
export { RelativeTime, useNow } from './time.tsx';
export { toast } from './toasts.tsx';
