/** The frame of a page: its title, which is the document's too, what one can do on it, and cards. */
import { useEffect, useId, type ReactNode } from "react";

export interface PageHeadProps {
  readonly title: string;
  readonly lead?: ReactNode;
  /** The page above, as a link. */
  readonly crumbs?: ReactNode;
  readonly actions?: ReactNode;
}

export function PageHead({ title, lead, crumbs, actions }: PageHeadProps) {
  useEffect(() => {
    document.title = `${title} · Studio`;
  }, [title]);
  return (
    <div className="page-head">
      <div>
        {crumbs === undefined ? null : <div className="crumbs">{crumbs}</div>}
        <h1 className="wrap">{title}</h1>
        {lead === undefined ? null : <p className="lead">{lead}</p>}
      </div>
      {actions === undefined ? null : <div className="row">{actions}</div>}
    </div>
  );
}

export interface CardProps {
  readonly title?: string;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
  /** Without a padding, for tables. */
  readonly flush?: boolean;
}

export function Card({ title, actions, children, flush = false }: CardProps) {
  const titleId = useId();
  return (
    <section className="card" aria-labelledby={title === undefined ? undefined : titleId}>
      {title === undefined ? null : (
        <header>
          <h2 id={titleId}>{title}</h2>
          {actions === undefined ? null : <div className="row">{actions}</div>}
        </header>
      )}
      {flush ? children : <div className="body">{children}</div>}
    </section>
  );
}
