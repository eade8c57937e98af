import json
import os
import time

from subscription_billing_service_api_client import AuthenticatedClient
from subscription_billing_service_api_client.api.customers import get_customer, post_customer
from subscription_billing_service_api_client.api.payment_instruments import post_payment_instrument
from subscription_billing_service_api_client.api.payment_tokens import post_token
from subscription_billing_service_api_client.api.plans import post_plan
from subscription_billing_service_api_client.api.subscriptions import (
    get_subscription,
    get_subscription_collection,
    post_subscription,
    post_subscription_cancellation,
)
from subscription_billing_service_api_client.api.webhooks import post_webhook
from subscription_billing_service_api_client.api.websites import post_website
from subscription_billing_service_api_client import models

organization = os.environ["ORGANIZATION"]
client = AuthenticatedClient(
    base_url=os.environ["BASE_URL"], token=os.environ["KEY"], prefix="", auth_header_name="SVC-APIKEY"
)
browser = AuthenticatedClient(
    base_url=os.environ["BASE_URL"],
    token=os.environ["PUBLISHABLE_KEY"],
    prefix="",
    auth_header_name="Authorization",
)

website = post_website.sync(organization, client=client, body=models.WebsiteBody(name="Shop"))
customer = post_customer.sync(
    organization,
    client=client,
    body=models.CustomerBody(
        email="ada@example.com", primary_address=models.ContactBody(city="London", country="GB")
    ),
)
plan = post_plan.sync(
    organization,
    client=client,
    body=models.SubscriptionPlanBody(
        name="Monthly",
        currency="EUR",
        pricing=models.FixedFeePricingBody(formula=models.FixedFeePricingBodyFormula.FIXED_FEE, price=9.9),
        recurring_interval=models.RecurringIntervalBody(
            unit=models.RecurringIntervalBodyUnit.MONTH, length=1
        ),
    ),
)
webhook = post_webhook.sync(
    organization,
    client=client,
    body=models.WebhookBody(url="http://127.0.0.1:9/", events_filter=["subscription-activated"]),
)
token = post_token.sync(
    organization,
    client=browser,
    body=models.PaymentTokenBody(
        method=models.PaymentTokenBodyMethod.PAYMENT_CARD,
        payment_instrument=models.PaymentTokenPaymentInstrumentBody(
            pan="4111111111111111", cvv="123", exp_month=12, exp_year=2090
        ),
    ),
)
instrument = post_payment_instrument.sync(
    organization,
    client=client,
    body=models.PaymentInstrumentBody(customer_id=customer.id, token=token.id),
)
order = post_subscription.sync(
    organization,
    client=client,
    body=models.SubscriptionBody(
        order_type=models.SubscriptionBodyOrderType.SUBSCRIPTION_ORDER,
        customer_id=customer.id,
        website_id=website.id,
        payment_instrument_id=instrument.id,
        items=[models.SubscriptionItemBody(plan=models.SubscriptionItemPlanBody(id=plan.id))],
    ),
)


def read():
    return get_subscription.sync(
        organization,
        order.id,
        client=client,
        expand=[models.GetSubscriptionExpandItem.CUSTOMER, models.GetSubscriptionExpandItem.WEBSITE],
    )


active = read()
for _ in range(100):
    if active.status != "pending":
        break
    time.sleep(0.2)
    active = read()
listed = get_subscription_collection.sync(
    organization,
    client=client,
    filter_=f"customerId:{customer.id}",
    sort=[models.GetSubscriptionCollectionSortItem("-createdTime")],
)
cancellation = post_subscription_cancellation.sync(
    organization,
    client=client,
    body=models.SubscriptionCancellationBody(
        subscription_id=order.id, reason=models.SubscriptionCancellationBodyReasonType1.DID_NOT_USE
    ),
)
refused = get_customer.sync(organization, "nobody", client=client)
print(
    json.dumps(
        {
            "orderId": active.id,
            "email": active.field_embedded.customer.email,
            "price": plan.pricing.price,
            "webhook": webhook.status.value,
            "last4": instrument.last4,
            "status": active.status.value,
            "listed": [one.id for one in listed],
            "canceledBy": cancellation.canceled_by.value,
            "afterwards": read().status.value,
            "problem": refused.code.value,
        }
    )
)
