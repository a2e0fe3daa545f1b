/**
 * Who looks when nobody looks: one topic per stage, and an alarm for each part that can fail silently.
 * What happens inside a gateway is for its metrics and `monitoring/alerts.yaml`.
 */
import { stage } from "./stage.ts";

let made: aws.sns.Topic | undefined;

/** Where alarms go. Made with the first of them. */
export function alarmTopic(): aws.sns.Topic {
  if (made !== undefined) return made;
  made = new aws.sns.Topic("Alarms", {});
  if (stage.alarmEmail !== undefined) {
    new aws.sns.TopicSubscription("AlarmMail", {
      topic: made.arn,
      protocol: "email",
      endpoint: stage.alarmEmail,
    });
  }
  return made;
}

type Name = $util.Input<string>;

/** A call that failed, and one that was turned away because too many run. */
export function alarmsOfFunction(of: string, functionName: Name): void {
  const common = {
    namespace: "AWS/Lambda",
    dimensions: { FunctionName: functionName },
    statistic: "Sum",
    period: 300,
    evaluationPeriods: 1,
    comparisonOperator: "GreaterThanThreshold",
    threshold: 0,
    treatMissingData: "notBreaching",
  };
  alarm(`${of}Errors`, { ...common, metricName: "Errors" });
  alarm(`${of}Throttles`, { ...common, metricName: "Throttles" });
}

/**
 * What a control plane of functions counts in its log, where no rule of Prometheus looks: records that differ from
 * those kept under their id, and calls of workers without the fleet secret.
 */
export function alarmsOfCounts(of: string, functionName: Name): void {
  const counted = {
    Conflicts: "gateway_query_record_conflicts_total",
    Strangers: "gateway_worker_auth_failures_total",
  };
  for (const [what, metricName] of Object.entries(counted)) {
    alarm(`${of}${what}`, {
      namespace: "QueryGateway",
      metricName,
      dimensions: { FunctionName: functionName },
      statistic: "Sum",
      period: 300,
      evaluationPeriods: 1,
      comparisonOperator: "GreaterThanThreshold",
      threshold: 0,
      treatMissingData: "notBreaching",
    });
  }
}

/** A schedule that does not call its function any more. */
export function alarmOfSilence(of: string, functionName: Name): void {
  alarm(`${of}Silent`, {
    namespace: "AWS/Lambda",
    metricName: "Invocations",
    dimensions: { FunctionName: functionName },
    statistic: "Sum",
    period: 3_600,
    evaluationPeriods: 1,
    comparisonOperator: "LessThanThreshold",
    threshold: 1,
    treatMissingData: "breaching",
  });
}

/**
 * Fewer containers than the stage wants at least, for five minutes; and memory that nearly is at its
 * end. Each running container reports once a minute, so the count of reports is that of containers.
 */
export function alarmOfContainers(
  of: string,
  cluster: sst.aws.Cluster,
  service: sst.aws.Service,
  countMin: number,
): void {
  const common = {
    namespace: "AWS/ECS",
    dimensions: {
      ClusterName: cluster.nodes.cluster.name,
      ServiceName: service.nodes.service.name,
    },
    period: 60,
    evaluationPeriods: 5,
  };
  alarm(`${of}TooFew`, {
    ...common,
    treatMissingData: "breaching",
    metricName: "CPUUtilization",
    statistic: "SampleCount",
    comparisonOperator: "LessThanThreshold",
    threshold: countMin,
  });
  alarm(`${of}Memory`, {
    ...common,
    treatMissingData: "notBreaching",
    metricName: "MemoryUtilization",
    statistic: "Maximum",
    comparisonOperator: "GreaterThanThreshold",
    threshold: 90,
  });
}

type Rule = Omit<aws.cloudwatch.MetricAlarmArgs, "alarmActions" | "okActions">;

function alarm(name: string, rule: Rule): void {
  const told = [alarmTopic().arn];
  new aws.cloudwatch.MetricAlarm(name, { ...rule, alarmActions: told, okActions: told });
}
